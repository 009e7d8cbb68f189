"""Every private learner at its shortest horizons: the exact curve stays below the promise."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from tests.battery import TAKES

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.two_worlds import Subject, World
from littlestone.catalogue import LEARNERS
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.naive_recomposition import NaiveRecomposition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(1)
COARSE = Fraction(1, 1 << 30)
# Forests of many trees and sanitizers have too many coins to enumerate.
MANY_COINS = {"eager-forest", "fresh-copies", "sanitized-batches", "sanitized-experts"}
PRIVATE = sorted(
    name for name, entry in LEARNERS.items() if entry.private and name not in MANY_COINS
)


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


def excess(recipe: Any, claimed: PrivacyGuarantee, rounds: int) -> float:
    """How much more delta than claimed is certain, at the claimed epsilon."""
    subject = Subject.from_learner(recipe, claimed=claimed)
    curve = privacy_curve(subject, OneOfTheFirst(rounds), rounds=rounds, negligible=COARSE)
    low, _ = curve.delta_bounds(claimed.epsilon)
    return float(low) - claimed.delta


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("name", PRIVATE)
def test_the_last_hypothesis_is_paid_for_too(name: str, rounds: int) -> None:
    concepts = TAKES.get(name, CONCEPTS)
    recipe = LEARNERS[name].build(concepts, rounds=rounds, epsilon=1.0, delta=1e-3)
    assert excess(recipe, recipe.guarantee(), rounds) <= 1e-12


def test_a_draw_priced_at_zero_is_noticed() -> None:
    """What NaiveRecomposition once did: the hypothesis after the last round was free."""
    recipe = NaiveRecomposition(concepts=CONCEPTS, rounds=1, epsilon=1.0, delta=1e-3)
    assert excess(recipe, PrivacyGuarantee(epsilon=0.0, delta=1e-3), 1) > 0.1
