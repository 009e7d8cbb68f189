"""Private learners small enough to play a hundred thousand games with each.

Privacy does not depend on the numbers that make a learner accurate, so these are chosen for
short games in which the adversary knows every count.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_linear.recipe import PrivateLinear
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated

ROUNDS: Final = 1000
MANY_SLOTS: Final = 1 << 60
"""Enough that no two examples of layer 0 share a slot."""


def forest(
    concepts: ConceptClass,
    epsilon: float,
    delta: float,
    *,
    rounds: int = ROUNDS,
    slots: int = MANY_SLOTS,
    **plan: Any,
) -> LazyForest:
    """Return a packed forest over the standard optimal algorithm with this plan."""
    return LazyForest(
        concepts=concepts,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        base=StandardOptimal(concepts),
        plan=ForestPlan(slots=slots, packed=True, **plan),
    )


def early_forest(epsilon: float, delta: float) -> LazyForest:
    """Return a forest that releases frequent points early; layer 1 ends after two mistakes."""
    listing = (PrivacyGuarantee(epsilon=epsilon, delta=delta),)
    return forest(
        Points(),
        epsilon,
        delta,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(1, 1),
        list_thresholds=(MANY_SLOTS,),
        budgets=ForestBudgets(switching=(0.0, epsilon), listing=listing),
        early_release=True,
    )


def one_concept_forest(epsilon: float, delta: float) -> LazyForest:
    """Return a forest with one concept, whose copies end after about two mistakes each."""
    return forest(
        FiniteClass([[0]]),
        epsilon,
        delta,
        slots=2,
        mistakes_per_layer=(1,),
        mistakes_per_slot=(),
        margins=(1,),
        list_thresholds=(),
        budgets=ForestBudgets(switching=(epsilon,), listing=()),
    )


def listing_forest(epsilon: float, delta: float, *, share: float = 0.9) -> LazyForest:
    """Return a forest that lists points after layer 0; the list gets ``share`` of epsilon.

    A key that occurs once is never listed, and layer 0 lasts long enough to bring two counts to the
    list's threshold.
    """
    cost = PrivacyGuarantee(epsilon=float_at_most(share * Fraction(epsilon)), delta=delta)
    budgets = ForestBudgets.from_listing((cost,), epsilon=epsilon)
    histogram = PrivateHistogram(epsilon=cost.epsilon, delta=cost.delta, neighbours="replace")
    threshold = histogram.noise_bound + 2
    return forest(
        Points(),
        epsilon,
        delta,
        mistakes_per_layer=(2 * threshold + 1, 1),
        mistakes_per_slot=(1.0,),
        margins=(math.ceil(4 / budgets.switching[0]), 1),
        list_thresholds=(threshold,),
        budgets=budgets,
    )


def deep_forest(epsilon: float, delta: float, *, share: float = 0.8) -> LazyForest:
    """Return a forest on Thresholds(6), dimension 2; layer 1's list gets ``share`` of epsilon."""
    half = float_at_most(Fraction(delta) / 2)
    first = PrivacyGuarantee(epsilon=float_at_most(share * Fraction(epsilon)), delta=half)
    rest = Fraction(epsilon) - Fraction(first.epsilon)
    second = PrivacyGuarantee(epsilon=float_at_most(rest / 2), delta=half)
    budgets = ForestBudgets.from_listing((first, second), epsilon=epsilon)
    noise = PrivateHistogram(epsilon=first.epsilon, delta=half, neighbours="add-remove").noise_bound
    last = PrivateHistogram(epsilon=second.epsilon, delta=half, neighbours="replace").noise_bound
    return forest(
        Thresholds(6),
        epsilon,
        delta,
        rounds=100 * ROUNDS,
        mistakes_per_layer=(2 * noise + 4, 1, 1),
        mistakes_per_slot=(1.0, 1.0),
        margins=(math.ceil(3 / budgets.switching[0]), 1, 1),
        list_thresholds=(noise + 2, last + 2),
        budgets=budgets,
    )


def eager_forest(epsilon: float, delta: float) -> EagerForest:
    """Return a recipe with one selection and nearly all of epsilon for watching it."""
    trees = 1000
    return EagerForest(
        concepts=Points(),
        rounds=ROUNDS,
        epsilon=epsilon,
        delta=delta,
        trees=trees,
        leaves=2,
        base=StandardOptimal(Points()),
        release=FrequentRelease(
            epsilon=epsilon,
            delta=delta,
            selections=1,
            rare_below=trees - 1,
            watching_share=Fraction(19, 20),
        ),
    )


def fresh_copies(epsilon: float, delta: float) -> FreshCopies:
    """Return copies for so few rounds that composition is the plain sum."""
    return FreshCopies(concepts=Points(), rounds=3, epsilon=epsilon, delta=delta, trees=4)


def fresh_majority(epsilon: float, *, keys: int = 8, share: float = 0.3) -> PrivateMajority:
    """Return a majority over ``keys`` keys; draws get ``share`` of epsilon.

    A phase may end with its first mistake.
    """
    rate = share * epsilon
    plan = FreshPlan(
        threshold_epsilon=float_at_most(Fraction(epsilon) - Fraction(rate)),
        threshold=1,
        selection_rate=rate,
    )
    return PrivateMajority(concepts=Points(keys), rounds=ROUNDS, epsilon=epsilon, plan=plan)


def sampled_majority(epsilon: float, delta: float) -> PrivateMajority:
    """Return a majority with one vote and two phases; AboveThreshold gets the rest of epsilon."""
    rho = Fraction(ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho)
    rate = float_at_most(Fraction(math.sqrt(2 * rho)) * Fraction(999, 1000))
    draws = ZeroConcentrated.rounded_up(rho=Fraction(rate) ** 2 / 8).epsilon_upper_bound(delta)
    plan = SampledPlan(
        threshold_epsilon=float_at_most(Fraction(epsilon) - Fraction(draws)),
        epochs=(EpochPlan(votes=1, rate=rate, weights=(1,), thresholds=(1, 1)),),
    )
    return PrivateMajority(
        concepts=Points(8), rounds=ROUNDS, epsilon=epsilon, delta=delta, plan=plan
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OneGradient(PrivateLinear):
    """A recipe with batches of one example."""

    def batch_size(self, number: int) -> int:
        """Return the number of examples in a batch."""
        del number
        return 1


def one_gradient(epsilon: float, delta: float) -> PrivateLinear:
    """Return a recipe with one batch of one example, whose gradient has five components 1/2."""
    schema = Schema.from_mapping({name: {"grid": [0]} for name in "abcd"})
    return OneGradient(concepts=Stumps(schema, 1), rounds=1, epsilon=epsilon, delta=delta)


def key_list(epsilon: float, delta: float) -> PrivateKeys:
    """Return a list of keys for few rounds, whose threshold is soon reached."""
    return PrivateKeys(rounds=ROUNDS, epsilon=epsilon, delta=delta)


def places(
    n: int, epsilon: float, /, *, share: float = 0.5, threshold: int = 1, **more: Any
) -> dict[str, Any]:
    """Return intervals on n points whose place is drawn after ``threshold`` mistakes."""
    drawing = FreshPlan(
        threshold_epsilon=float_at_most(Fraction(epsilon) - Fraction(share * epsilon)),
        threshold=threshold,
        selection_rate=share * epsilon,
    )
    half = epsilon / 2
    plan = WitnessPlan(query_rate=half, threshold_rate=half, threshold=1, again=1, drawing=drawing)
    return {"concepts": Intervals(n), "rounds": ROUNDS, "epsilon": epsilon, "plan": plan, **more}


def eight_places(epsilon: float) -> PrivateWitnesses:
    """Return eight places: the place of a single mistake is rarely drawn by chance."""
    return PrivateWitnesses(**places(8, epsilon))


def two_literals(epsilon: float) -> PrivateWitnesses:
    """Return conjunctions of one feature for few rounds, whose thresholds are soon reached."""
    return PrivateWitnesses(concepts=Conjunctions(1), rounds=ROUNDS, epsilon=epsilon)
