"""A certificate that was tampered with is refused, or proves no more than is true."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.errors import LittlestoneError
from littlestone.theory.optimum.certificate import Certificate
from littlestone.theory.optimum.mistakes import Optimum, optimal_mistakes

GAMES = {"bit": ([[0, 0], [0, 1]], 4), "chain": ([[0, 0], [0, 1], [1, 1]], 2)}


@cache
def game(name: str, epsilon: float, delta: float) -> Optimum:
    matrix, rounds = GAMES[name]
    return optimal_mistakes(matrix, rounds=rounds, epsilon=epsilon, delta=delta)


def changed(honest: Certificate, name: str, flows: dict[int, int]) -> Certificate:
    given: dict[str, Any] = {name: flows}
    return replace(honest, **given)


def largest(flows: dict[int, int]) -> int:
    return max(flows, key=flows.__getitem__)


def more_of(name: str) -> Callable[[Certificate], Certificate]:
    """The largest flow is made larger by a thousandth of everything."""

    def tamper(honest: Certificate) -> Certificate:
        flows = dict(getattr(honest, name))
        flows[largest(flows)] += honest.scale // 1000
        return changed(honest, name, flows)

    return tamper


def all_negative(name: str) -> Callable[[Certificate], Certificate]:
    def tamper(honest: Certificate) -> Certificate:
        flows = getattr(honest, name)
        return changed(honest, name, {place: -flow for place, flow in flows.items()})

    return tamper


def of_another_budget(epsilon: float, delta: float) -> Callable[[Certificate], Certificate]:
    def tamper(honest: Certificate) -> Certificate:
        other = game("bit", epsilon, delta).certificate
        return replace(honest, learner=other.learner, learner_scale=other.learner_scale)

    return tamper


TAMPERED: dict[str, Callable[[Certificate], Certificate]] = {
    "one probability larger": lambda c: replace(c, learner=(c.learner[0] + 1, *c.learner[1:])),
    "one probability missing": lambda c: replace(c, learner=c.learner[:-1]),
    "probabilities exchanged": lambda c: replace(c, learner=c.learner[::-1]),
    "negative probabilities": lambda c: replace(c, learner=tuple(-p for p in c.learner)),
    "another scale": lambda c: replace(c, learner_scale=c.learner_scale + 1),
    "a learner of a larger epsilon": of_another_budget(1.2, 0.02),
    "a learner of a larger delta": of_another_budget(1.0, 0.05),
    "a smaller factor": lambda c: replace(c, factor=(Fraction(2), Fraction(3))),
    "a smaller delta": lambda c: replace(c, delta=c.delta * Fraction(99, 100)),
    "more adversary": more_of("adversary"),
    "negative adversary": all_negative("adversary"),
    "more attacker that waits": more_of("waits"),
    "more attacker that splits": more_of("splits"),
    "more attacker that ends": more_of("ends"),
    "negative attacker": all_negative("ends"),
    "attacker too cheap": lambda c: replace(c, price=c.price // 2),
    "negative price": lambda c: replace(c, price=-c.price),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_tampered_with_is_refused(name: str) -> None:
    found = game("bit", 1.0, 0.02)
    assert found.certificate.interval(found.tree) == (found.low, found.high)
    with pytest.raises(LittlestoneError):
        TAMPERED[name](found.certificate).interval(found.tree)


def test_an_attacker_that_ends_too_early_is_refused() -> None:
    found = game("bit", 1.0, 0.0)
    early = next(i for i, pair in enumerate(found.tree.pairs) if not pair.last)
    with pytest.raises(LittlestoneError, match="before the last round"):
        replace(found.certificate, ends={early: 1}).interval(found.tree)


def test_adversaries_go_nowhere_that_fits_no_concept() -> None:
    # A flow to a history that no concept fits counts for nothing.
    found = game("bit", 1.0, 0.02)
    empty = [number for number, row in enumerate(found.tree.received) if not row.fitting]
    assert empty
    nowhere = dict.fromkeys(empty, found.certificate.scale)
    other = replace(found.certificate, adversary=found.certificate.adversary | nowhere)
    assert other.lower_end(found.tree) <= found.high


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(GAMES)),
    budget=st.sampled_from([(1.0, 0.0), (1.0, 0.02), (math.inf, 0.0)]),
    field=st.sampled_from(["adversary", "waits", "splits", "ends"]),
    data=st.data(),
)
def test_whatever_is_changed_nothing_false_is_proved(
    name: str, budget: tuple[float, float], field: str, data: st.DataObject
) -> None:
    found = game(name, *budget)
    flows = dict(getattr(found.certificate, field))
    about: dict[str, list[Any]] = {"splits": found.tree.splits, "ends": found.tree.pairs}
    places = st.integers(0, len(about.get(field, found.tree.received)) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=4)):
        flows[place] = data.draw(st.integers(0, 2 * found.certificate.scale))
    other = changed(found.certificate, field, flows)
    try:
        low, high = other.interval(found.tree)
    except LittlestoneError:
        return
    assert low <= found.high and high >= found.low
