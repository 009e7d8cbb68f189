"""PrivateCuts: its law is that of the definition, and within epsilon on all small tables."""

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import Tape, law_of
from littlestone.audit.substitution import replaced
from littlestone.learners.sanitizers import private_cuts
from littlestone.learners.sanitizers.private_cuts import PrivateCuts, decimals
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.rounding import exp_upper_bound
from littlestone.randomness import Randomness

CANDIDATES = (1.0, 2.0, 3.0)
NOWHERE = math.nan
VALUES = (0.5, 1.0, 2.5, 3.5, NOWHERE)
Cuts = tuple[float, ...]
Weights = Sequence[int]
EPSILON, LEVELS = 3.0, 2


def weights_at(epsilon: float) -> Weights:
    return ExponentialMechanism(epsilon=epsilon)._table.weights


RIGHT = weights_at(EPSILON / (2 * LEVELS))


def law(
    values: Sequence[float],
    weights: Weights = RIGHT,
    *,
    candidates: Sequence[float] = CANDIDATES,
    levels: int = LEVELS,
    whole: int = 3,
) -> dict[Cuts, Fraction]:
    """The definition: halve, or do not, and halve what comes of it."""
    inside = [value for value in values if not math.isnan(value)]
    if not levels or not candidates:
        return {(): Fraction(1)}
    scores = [abs(2 * sum(v < c for v in inside) - len(inside)) for c in candidates]
    scores += [whole * len(inside) // 4] * len(candidates)
    each = [weights[min(score - min(scores), len(weights) - 1)] for score in scores]
    found: dict[Cuts, Fraction] = {(): Fraction(sum(each[len(candidates) :]), sum(each))}
    for place, cut in enumerate(candidates):
        sides = [v for v in inside if v < cut], [v for v in inside if v >= cut]
        parts = candidates[:place], candidates[place + 1 :]
        below, above = (
            law(side, weights, candidates=part, levels=levels - 1, whole=whole)
            for side, part in zip(sides, parts, strict=True)
        )
        for low, p in below.items():
            for high, q in above.items():
                cuts = (*low, cut, *high)
                found[cuts] = (
                    found.get(cuts, Fraction(0)) + Fraction(each[place], sum(each)) * p * q
                )
    return found


def neighbours(size: int) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    """All tables of one column that differ in one row."""
    for others in combinations_with_replacement(VALUES, size - 1):
        for one, other in combinations_with_replacement(VALUES, 2):
            yield (*others, one), (*others, other)


def largest_ratio(weights: Weights, *, size: int, whole: int = 3) -> Fraction:
    ratios = []
    for one, other in neighbours(size):
        p, q = law(one, weights, whole=whole), law(other, weights, whole=whole)
        ratios += [max(p[cuts] / q[cuts], q[cuts] / p[cuts]) for cuts in p]
    return max(ratios)


def test_epsilon_is_kept_on_all_small_tables() -> None:
    worst = max(largest_ratio(RIGHT, size=size) for size in (1, 2, 3, 4))
    assert worst <= exp_upper_bound(Fraction(EPSILON))
    assert worst >= exp_upper_bound(Fraction(EPSILON) / 2)  # with three candidates; see the audit


def test_one_row_more_or_less_costs_half() -> None:
    for size in (1, 2, 3):
        for rows in combinations_with_replacement(VALUES, size):
            p, q = law(rows), law(rows[1:])
            worst = max(max(p[cuts] / q[cuts], q[cuts] / p[cuts]) for cuts in p)
            assert worst <= exp_upper_bound(Fraction(EPSILON) / 2)


@pytest.mark.parametrize(
    ("bug", "each", "whole"),
    [
        ("a row that moves pays for one part only", EPSILON / LEVELS, 3),
        ("the score of no cut moves by nine", EPSILON / (2 * LEVELS), 36),
    ],
)
def test_what_is_wrong_in_one_place_is_noticed(bug: str, each: float, whole: int) -> None:
    worst = max(largest_ratio(weights_at(each), size=size, whole=whole) for size in (1, 4))
    assert worst > exp_upper_bound(Fraction(EPSILON) * Fraction(11, 10)), bug


@pytest.mark.parametrize("rows", [(), (0.5, 2.5), (1.0, NOWHERE, 3.5, 3.5), (2.5, 2.5, 0.5)])
def test_what_is_released_has_the_law_of_the_definition(rows: Sequence[float]) -> None:
    recipe = PrivateCuts(epsilon=EPSILON, columns=1, levels=LEVELS)

    def play(tape: Tape) -> Cuts:
        return recipe.release([rows], rng=tape)[0]

    with enumerable(), replaced(private_cuts, decimals=lambda *_: np.array(CANDIDATES)):
        released = law_of(play, rounds=1, negligible=1, most=10**5)
    expected: dict[Hashable, Fraction] = dict(law(rows).items())
    assert released.views.keys() == expected.keys()
    for cuts, mass in released.views.items():
        assert mass.low <= expected[cuts] * UNIT <= mass.high + released.missing


def test_columns_share_what_is_spent() -> None:
    for columns in (1, 3, 7):
        recipe = PrivateCuts(epsilon=1.0, columns=columns, levels=3)
        each = Fraction(recipe._mechanism.epsilon)
        assert each * 2 * 3 * columns <= 1 < each * 2 * 3 * columns * (1 + Fraction(1, 2**50))


def test_cuts_are_quantiles_where_there_is_enough(rng: Randomness) -> None:
    values = np.exp(np.linspace(-3, 9, 20_001))
    recipe = PrivateCuts(epsilon=8.0, columns=2)
    for cuts in recipe.release([values, -values], rng=rng):
        assert list(cuts) == sorted(set(cuts)) and len(cuts) == 7
        ranks = np.searchsorted(np.sort(np.copysign(values, cuts[0])), cuts) / len(values)
        assert np.abs(ranks - np.arange(1, 8) / 8).max() < 0.02


def test_a_column_of_whole_numbers_is_cut_at_such(rng: Randomness) -> None:
    known = decimals(4, -6, 14, whole=True)
    assert set(known) == {cut for cut in decimals(4, -6, 14).tolist() if cut.is_integer()}
    assert len(known) == 217_999
    ages = np.repeat(np.arange(18, 66), 100)
    recipe = PrivateCuts(epsilon=8.0, columns=3, whole=(0, 2))
    whole, any_of_them, less = recipe.release([ages, ages, -ages], rng=rng)
    assert len(whole) == len(less) == 7
    assert all(cut.is_integer() for cut in (*whole, *less))
    assert not all(cut.is_integer() for cut in any_of_them)


def test_what_cannot_be_halved_is_left_alone(rng: Randomness) -> None:
    recipe = PrivateCuts(epsilon=30.0, columns=3)
    mostly_zero = np.r_[np.zeros(9000), np.arange(1, 4001) / 100]
    always, sometimes, never = recipe.release(
        [np.full(13_000, 7.0), mostly_zero, np.full(13_000, np.nan)], rng=rng
    )
    assert always == () and len(never) <= 7
    assert 0 < sometimes[0] <= 0.02 and len(sometimes) <= 4  # zeros and others


def test_candidates_are_the_floats_that_their_decimals_are_read_as() -> None:
    known = decimals(4, -6, 14)
    assert len(known) == 2 * 21 * 9000 + 1 and (np.diff(known) > 0).all()
    some = known[::997].tolist() + known[188_000:190_000].tolist()
    assert all(float(f"{cut:.3e}") == cut for cut in some)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": 0},
        {"levels": 7},
        {"digits": 0},
        {"least": 3, "most": 2},
        {"epsilon": 0},
        {"whole": (1,)},
    ],
)
def test_refusals(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=list(wrong)[-1]):
        PrivateCuts(**({"epsilon": 1.0, "columns": 1} | wrong))  # type: ignore[arg-type]


def test_a_table_of_another_shape_is_refused(rng: Randomness) -> None:
    recipe = PrivateCuts(epsilon=1.0, columns=2)
    for table in ([[1.0]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match="2 columns"):
            recipe.release(table, rng=rng)
