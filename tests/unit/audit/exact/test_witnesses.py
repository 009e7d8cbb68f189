"""Every enumerated subject keeps its claim exactly, and its adversary shows what it should."""

import math
from dataclasses import replace

import pytest

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.matrix import exact_curves
from littlestone.audit.registry import AUDITS
from littlestone.audit.subjects.learner_subjects import TWO_AND_A_COMMON_POINT
from littlestone.audit.two_worlds import Deterministic, Subject, World
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition

ENUMERATED = [audit.name for audit in AUDITS.values() if audit.exact_rounds or audit.witness]
LONG = {
    "private-majority-sampled",
    "above-threshold-queries",
    "unknown-horizon",
    "histogram-sanitizer",
    "lazy-forest-early",
    "realizable-experts",
    "eager-forest",
    "irreducible-learner",
    "interval-sanitizer",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in ENUMERATED],
)
def test_the_exact_curve_stays_below_the_claim_and_comes_near_it(name: str) -> None:
    entry = AUDITS[name]
    claimed = entry.subject(entry.epsilon, entry.delta).claimed
    shares = []
    for curve in exact_curves(entry):
        low, high = curve.delta_bounds(claimed.epsilon)
        assert low <= claimed.delta
        # Only what is left out of the enumeration could exceed it, in one world or in the other.
        assert high <= claimed.delta + (1 + math.exp(claimed.epsilon)) * curve.missing + 1e-30
        shares.append(curve.epsilon_lower_bound(claimed.delta) / claimed.epsilon)
    assert max(shares) <= 1
    # Where the goal is missed, all games are enumerated and there is a remark: a loose claim.
    assert bool(entry.rivals) == (max(shares) < entry.goal)
    assert entry.remark or not entry.rivals


class ThenTheCommonPoint(Deterministic):
    """The special example, and then one on which all concepts agree."""

    def noticed(self, world: World) -> None:
        world.challenge((0, 1), (0, 0))
        for _ in range(world.opening.recipe.rounds - 1):
            world.send((1, 0))


def test_independent_draws_multiply() -> None:
    """Three draws enumerated as one game, and as one draw three times."""
    recipe = NaiveRecomposition(concepts=TWO_AND_A_COMMON_POINT, rounds=3, epsilon=1.0, delta=1e-3)
    subject = Subject.from_learner(recipe)
    whole = privacy_curve(subject, ThenTheCommonPoint(), rounds=3)
    one = privacy_curve(subject, OneQuestion(zero=(0, 1), one=(0, 0)), rounds=1)
    for curve in (one.times(3), one.then(one).then(one)):
        assert _same(whole, curve)
    assert not _same(whole, one.times(2))
    assert not _same(whole, one.then(one))


def _same(curve: PrivacyCurve, other: PrivacyCurve) -> bool:
    pairs = [
        (curve.delta_bounds(epsilon)[0], other.delta_bounds(epsilon)[1])
        for epsilon in (0.0, 0.05, 0.1, 0.2)
    ]
    return all(abs(low - high) < 1e-60 for low, high in pairs)


def test_what_was_left_out_of_one_game_is_left_out_of_the_other_too() -> None:
    subject = Subject.from_learner(
        NaiveRecomposition(concepts=TWO_AND_A_COMMON_POINT, rounds=3, epsilon=1.0, delta=1e-3)
    )
    whole = privacy_curve(subject, OneQuestion(zero=(0, 1), one=(0, 0)), rounds=1)
    part = replace(whole, _missing=(1 << 250, 1 << 250))
    low, high = part.times(2).delta_bounds(0.1)
    assert high - low > 2 * (1 << 250) / 2**256
    assert part.then(part).delta_bounds(0.1)[1] - part.then(whole).delta_bounds(0.1)[1] > 0
