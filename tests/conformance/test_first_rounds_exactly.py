"""Every private learner at its shortest horizons: the exact curve stays below the promise."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from tests.battery import TAKES

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.two_worlds import Subject, World
from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(1)
BUDGET = {"epsilon": 1.0, "delta": 1e-3}
COARSE = Fraction(1, 1 << 30)
PRIVATE = sorted(name for name, entry in LEARNERS.items() if entry.private)
# Their noise has many values: of these, only the more likely ones are gone through.
MANY_COINS = {
    **dict.fromkeys(["eager-forest", "fresh-copies", "sanitized-batches"], 1 << 14),
    "private-witnesses": 1 << 17,
}
# In a batch of its own, the first example is sanitized before the last hypothesis.
SHORT = {"sanitized-batches": {"batch": 1}}


def first_rounds(name: str, rounds: int) -> Any:
    budget: Any = BUDGET
    if name == "sanitized-experts":  # needs a second round, for its first switch
        return SanitizedExperts(
            concepts=Points(), rounds=max(2, rounds), sanitizer="histogram", **budget
        )
    recipe = LEARNERS[name].build(TAKES.get(name, CONCEPTS), rounds=rounds, **budget)
    return replace(recipe, **SHORT.get(name, {}))


@dataclass(frozen=True)
class OneOfTheFirst:
    """Challenges the first round; the others are common to both worlds."""

    rounds: int

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        world.challenge((0, 1), (0, 0))
        for _ in range(self.rounds - 1):
            world.send((0, 1))
        return None


def excess(
    recipe: Any, claimed: PrivacyGuarantee, rounds: int, negligible: Fraction = COARSE
) -> float:
    """How much more delta than claimed is certain, at the claimed epsilon."""
    subject = Subject.from_learner(recipe, claimed=claimed)
    curve = privacy_curve(subject, OneOfTheFirst(rounds), rounds=rounds, negligible=negligible)
    assert curve.missing < 0.05
    low, _ = curve.delta_bounds(claimed.epsilon)
    return float(low) - claimed.delta


def how_long(name: str, rounds: int) -> list[pytest.MarkDecorator]:
    long = name == "private-witnesses" if rounds == 1 else name in MANY_COINS
    return [pytest.mark.slow] if long else []


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        pytest.param(name, rounds, marks=how_long(name, rounds))
        for name in PRIVATE
        for rounds in (1, 2)
    ],
)
def test_the_last_hypothesis_is_paid_for_too(name: str, rounds: int) -> None:
    recipe = first_rounds(name, rounds)
    # After two rounds its likely cases are eight times as many.
    finer = 8 if (name, rounds) == ("private-witnesses", 2) else 1
    negligible = Fraction(1, finer * MANY_COINS.get(name, 1 << 30))
    assert excess(recipe, recipe.guarantee(), rounds, negligible) <= 1e-12


def test_a_draw_priced_at_zero_is_noticed() -> None:
    """What NaiveRecomposition once did: the hypothesis after the last round was free."""
    recipe = NaiveRecomposition(concepts=CONCEPTS, rounds=1, epsilon=1.0, delta=1e-3)
    assert excess(recipe, PrivacyGuarantee(epsilon=0.0, delta=1e-3), 1) > 0.1


@pytest.mark.slow
def test_what_the_sanitizer_pays_for_is_seen() -> None:
    """At a tenth of its price the claim is refuted."""
    recipe = first_rounds("sanitized-batches", 2)
    cheap = PrivacyGuarantee(epsilon=0.1)
    assert excess(recipe, cheap, 2, Fraction(1, 1 << 14)) > 0.01
