"""PrivateHistogram: exact delta, certain errors, and an order that says nothing."""

import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, localcontext
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.histogram import (
    PrivateHistogram,
    _edge_is_light,
    smallest_noise_bound,
)
from littlestone.randomness import Randomness, seeded

Law = dict[int, Decimal]
HIDDEN = -1


def noise_law(rate: Fraction, bound: int) -> Law:
    q = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
    weights = {k: q ** abs(k) for k in range(-bound, bound + 1)}
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def released(count: int, noise: Law, threshold: int) -> Law:
    """The law of what is seen of a key that occurs ``count`` times."""
    if count == 0:
        return {HIDDEN: Decimal(1)}
    law: Law = {}
    for k, probability in noise.items():
        seen = count + k if count + k >= threshold else HIDDEN
        law[seen] = law.get(seen, Decimal(0)) + probability
    return law


def excess(first: dict[Any, Decimal], second: dict[Any, Decimal], epsilon: Fraction) -> Decimal:
    """The smallest delta for which P(S) <= e**epsilon * P'(S) + delta for all S."""
    factor = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
    zero = Decimal(0)
    return sum((max(p - factor * second.get(o, zero), zero) for o, p in first.items()), zero)


def worst_excess(epsilon: Fraction, bound: int, threshold: int) -> Decimal:
    """Over all counts of one key and both directions."""
    noise = noise_law(epsilon, bound)
    worst = Decimal(0)
    for count in range(threshold + bound + 3):
        one, other = (released(c, noise, threshold) for c in (count, count + 1))
        worst = max(worst, excess(one, other, epsilon), excess(other, one, epsilon))
    return worst


BUDGETS = [(1.0, 1e-6), (0.5, 1e-6), (0.1, 1e-3), (2.0, 1e-9), (1.0, 0.3), (0.3, 0.1)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_delta_is_exact_and_nothing_smaller_would_do(epsilon: float, delta: float) -> None:
    recipe = PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="add-remove")
    exact, a = Fraction(epsilon), recipe.noise_bound
    with localcontext() as context:
        context.prec = 60
        assert worst_excess(exact, a, a + 1) <= Decimal(delta)
        assert worst_excess(exact, a, a + 5) <= Decimal(delta)
        # The controls: less noise, and a threshold that one occurrence reaches too easily.
        assert worst_excess(exact, a - 1, a) > Decimal(delta)
        assert worst_excess(exact, a, a) > Decimal(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (2.0, 0.01)])
def test_replacing_an_element_costs_what_is_promised(epsilon: float, delta: float) -> None:
    recipe = PrivateHistogram(epsilon=epsilon, delta=delta)
    priced_for_adding = PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="add-remove")

    def worst(bound: int, rate: Fraction) -> Decimal:
        noise, threshold, largest = noise_law(rate, bound), bound + 1, Decimal(0)
        for first in range(1, 2 * bound + 4):
            for second in range(2 * bound + 4):
                one, other = [
                    {
                        (i, j): p * r
                        for i, p in released(here, noise, threshold).items()
                        for j, r in released(there, noise, threshold).items()
                    }
                    for here, there in ((first, second), (first - 1, second + 1))
                ]
                largest = max(largest, excess(one, other, Fraction(epsilon)))
        return largest

    with localcontext() as context:
        context.prec = 40
        assert worst(recipe.noise_bound, Fraction(epsilon) / 2) <= Decimal(delta)
        assert worst(priced_for_adding.noise_bound, Fraction(epsilon)) > Decimal(delta)


@given(
    epsilon=st.fractions(min_value="1/20", max_value=8),
    delta=st.fractions(min_value="1/1000000", max_value="99/100"),
)
def test_the_noise_bound_is_the_smallest_allowed(epsilon: Fraction, delta: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        q = (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        limit, a, total = Decimal(delta.numerator) / Decimal(delta.denominator), 1, 1 + 2 * q
        while q**a / total > limit:
            a += 1
            total += 2 * q**a
    assert smallest_noise_bound(epsilon, delta) == a


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**41), Fraction(1, 10**6), Fraction(700)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**330), Fraction(1, 10**299), Fraction(99, 100)])
def test_where_floats_end_whole_numbers_find_the_noise_bound(
    epsilon: Fraction, delta: Fraction
) -> None:
    found = smallest_noise_bound(epsilon, delta)
    assert _edge_is_light(epsilon, delta, found)
    assert found == 1 or not _edge_is_light(epsilon, delta, found - 1)


@pytest.mark.parametrize(
    ("epsilon", "adding", "replacing"),
    [(0.1, 219, 435), (0.25, 95, 189), (0.5, 51, 101), (1.0, 29, 55)],
)
def test_certain_inclusion_is_that_of_the_table(
    epsilon: float, adding: int, replacing: int
) -> None:
    add = PrivateHistogram(epsilon=epsilon, delta=1e-6, neighbours="add-remove")
    replace = PrivateHistogram(epsilon=epsilon, delta=1e-6)
    assert (add.certain_inclusion, replace.certain_inclusion) == (adding, replacing)
    assert replace.error_bound < 8 * math.log(8 / 1e-6) / epsilon


def test_the_promise_is_the_budget() -> None:
    recipe = PrivateHistogram(epsilon=0.3, delta=1e-7)
    assert recipe.guarantee() == PrivacyGuarantee(epsilon=0.3, delta=1e-7)


KEYS = st.one_of(st.integers(-3, 3), st.text("ab", max_size=2), st.tuples(st.integers(0, 2)))


@given(
    counts=st.dictionaries(KEYS, st.integers(0, 60)),
    epsilon=st.sampled_from([0.5, 1.0, 3.0]),
    extra=st.integers(0, 9),
    seed=st.integers(0, 2**32),
)
def test_errors_never_exceed_their_bound(
    counts: dict[Any, int], epsilon: float, extra: int, seed: int
) -> None:
    smallest = PrivateHistogram(epsilon=epsilon, delta=0.01)
    assert smallest.threshold is not None
    recipe = PrivateHistogram(epsilon=epsilon, delta=0.01, threshold=smallest.threshold + extra)
    shown = recipe.release(counts, rng=seeded(seed))
    for key, count in counts.items():
        assert abs(shown.get(key, 0) - count) <= recipe.error_bound
        assert key in shown or count < recipe.certain_inclusion
        assert key not in shown or count > recipe.certain_exclusion
        assert key not in shown or abs(shown[key] - count) <= recipe.noise_bound
    assert set(shown) <= set(counts)


def test_every_kind_of_input_is_counted() -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    keys = [3] * 100 + [5] * 200 + [7]
    outcomes = [
        recipe.release(data, rng=seeded(4))
        for data in (
            keys,
            iter(keys),
            np.array(keys),
            np.array(keys, dtype=np.uint8),
            Counter(keys),
        )
    ]
    assert list(outcomes[0]) == [3, 5]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert all(type(key) is int for outcome in outcomes for key in outcome)


def test_absent_keys_get_no_noise() -> None:
    recipe = PrivateHistogram(epsilon=1.0, delta=0.01)
    with_zeros = recipe.release({"a": 0, "b": 50, "c": 0}, rng=seeded(9))
    assert with_zeros == recipe.release({"b": 50}, rng=seeded(9))
    assert recipe.release([], rng=seeded(9)) == {}


@given(order=st.permutations([0, 1, -4, 10, 2, "b", "a", (2, "x"), (2,), b"k", None, 2.5]))
def test_the_order_of_a_release_does_not_depend_on_that_of_arrival(order: list[Any]) -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    shown = recipe.release(dict.fromkeys(order, 1000), rng=seeded(1))
    expected = [None, -4, 0, 1, 2, 2.5, 10, "a", "b", b"k", (2,), (2, "x")]
    assert list(shown) == expected


def test_of_equal_keys_the_same_one_is_always_shown() -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    for first, second in ((1, True), (True, 1), (1.0, 1), (np.int64(1), 1.0)):
        shown = recipe.release([first] + [second] * 1000, rng=seeded(1))
        assert [(type(key), key) for key in shown] == [(int, 1)]


@dataclass(frozen=True)
class Rule:
    """Stands for a hypothesis."""

    name: str

    def to_json(self) -> dict[str, Any]:
        return {"kind": "rule", "name": self.name}


def test_hypotheses_are_ordered_by_what_they_say() -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    rules = [Rule("c"), Rule("a"), Rule("b")]
    shown = recipe.release(dict.fromkeys(rules, 1000), rng=seeded(1))
    assert [rule.name for rule in shown] == ["a", "b", "c"]


def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from littlestone.privacy.mechanisms.histogram import PrivateHistogram\n"
        "from littlestone.randomness import seeded\n"
        "recipe = PrivateHistogram(epsilon=5.0, delta=0.01)\n"
        "keys = frozenset(map(str, range(50)))\n"
        "print(list(recipe.release({key: 999 for key in keys}, rng=seeded(1))))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


class Opaque:
    """Hashable, without a canonical form."""


def test_keys_without_a_canonical_form_are_refused_before_any_noise(rng: Randomness) -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    before = rng.state()
    # The opaque key is far too rare to be released, and refused all the same.
    for order in (None, str):
        with pytest.raises(ValueError, match="must be made of"):
            recipe.release([Opaque()] + [1] * 1000, rng=rng, order=order)
    assert rng.state() == before


class Color(str, Enum):  # noqa: UP042 - str() of a StrEnum would hide what is tested
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: int


WINTER = datetime(2024, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rare", "often"),
    [
        ("red", Color.RED),
        (Color.RED, "red"),
        ((1, 2), Pair(1, 2)),
        (Pair(1, 2), (1, 2)),
        (WINTER, WINTER.astimezone(timezone(timedelta(hours=1)))),
        (frozenset([0, 8]), frozenset([8, 0])),
        (True, 1.0),
    ],
)
def test_one_example_does_not_change_how_the_others_look(rare: Any, often: Any) -> None:
    """``['red'] + [Color.RED] * 500`` against ``['blue'] + …`` was told apart with certainty."""
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    looks = {
        repr(list(recipe.release(data, rng=seeded(1))))
        for data in ([rare] + [often] * 500, ["blue"] + [often] * 500, [often] * 500)
    }
    assert len(looks) == 1
    as_counts = recipe.release({often: 500}, rng=seeded(1))
    assert {repr(list(as_counts))} == looks


def test_counts_of_keys_that_become_the_same_are_added() -> None:
    # A mapping that tells apart what a dictionary would not: two zones, one folded hour.
    zone = ZoneInfo("Europe/Berlin")
    folded = datetime(2024, 10, 27, 2, 30, tzinfo=zone)
    same_instant = folded.astimezone(UTC)
    assert folded != same_instant  # Python's rule for ambiguous hours
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    [(key, count)] = recipe.release({folded: 300, same_instant: 700}, rng=seeded(1)).items()
    assert key is not folded and abs(count - 1000) <= recipe.noise_bound


def test_an_order_may_be_given() -> None:
    recipe = PrivateHistogram(epsilon=5.0, delta=0.01)
    keys = ["b", "a"]
    shown = recipe.release(dict.fromkeys(keys, 1000), rng=seeded(1), order=keys[::-1].index)
    assert list(shown) == keys[::-1]
    with pytest.raises(ValueError, match="same place"):
        recipe.release(dict.fromkeys(keys, 1000), rng=seeded(1), order=lambda key: 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": 0, "delta": 0.1},
        {"epsilon": math.nan, "delta": 0.1},
        {"epsilon": math.inf, "delta": 0.1},
        {"epsilon": 1.0, "delta": 0},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1.0, "delta": -1e-6},
        {"epsilon": 1.0, "delta": math.nan},
        {"epsilon": 1.0, "delta": 0.1, "neighbours": "swap"},
        {"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", "threshold": 14},
        {"epsilon": 1.0, "delta": 1e-6, "threshold": 100.0},
    ],
)
def test_bad_recipes_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"epsilon|delta|neighbours|threshold"):
        PrivateHistogram(**arguments)


@pytest.mark.parametrize("count", [-1, 1.5, math.nan, "3", True, 2**61])
def test_counts_that_are_not_counts_are_refused(count: Any) -> None:
    with pytest.raises(ValueError, match="count"):
        PrivateHistogram(epsilon=1.0, delta=0.1).release({"a": count}, rng=seeded(1))


def test_a_recipe_is_a_value() -> None:
    one = PrivateHistogram(epsilon=1.0, delta=1e-6, neighbours="add-remove")
    same = PrivateHistogram(epsilon=1.0, delta=1e-6, threshold=15, neighbours="add-remove")
    assert one == same
    assert hash(one) == hash(same)
    assert "_noise" not in repr(one)


def test_what_is_behind_a_mask_is_no_key() -> None:
    keys: Any = np.ma.array([1] * 500 + [2] * 500, mask=[False] * 500 + [True] * 500)
    with pytest.raises(ValueError):
        PrivateHistogram(epsilon=1.0, delta=1e-6).release(keys, rng=seeded(1))
