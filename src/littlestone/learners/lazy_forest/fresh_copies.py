"""Make the eager forest safe against adaptive adversaries: grow a fresh forest in every round."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from littlestone import require
from littlestone.concepts.json_form import canonical, one_form
from littlestone.concepts.protocols import Example, Hypothesis, Label
from littlestone.game.protocols import OnlineLearner, require_base
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.learners.lazy_forest.eager_forest import (
    Forest,
    leaves_for,
    refuse_too_large,
    trees_for,
)
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.composition import advanced_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.frequent_release import random_order
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness

_MOST_ROUNDS = 10**8  # every round composes a release


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FreshCopies(Budgeted):
    """Before every round, grow an eager forest on all examples so far; publish its most frequent.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta); per user (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a mistake of some
                    sequence takes longer
        Proof:      fresh_copies.md

    Mistakes: as ``EagerForest`` on oblivious streams, but with T releases instead of a few the
    trees, and with them the mistakes, grow by about √T [GL21, Theorem 4.2]. Time grows with the
    square of the rounds: a baseline, for a few thousand rounds.
    """

    base: OnlineLearner | None = None
    trees: int | None = None
    leaves: int | None = None
    """``trees`` and ``leaves`` are chosen for the horizon unless given."""
    plan: "TreesPlan" = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise()
        require.integer(rounds=self.rounds, at_most=_MOST_ROUNDS)
        base = StandardOptimal(self.concepts) if self.base is None else self.base
        require_base(base, self.concepts)
        leaves = leaves_for(base, self.leaves)
        trees = self.trees
        if trees is None:
            trees = trees_for(self.histogram().certain_inclusion, leaves)
        require.integer(trees=trees, leaves=leaves, at_least=1)
        object.__setattr__(self, "plan", TreesPlan(base, trees, leaves))

    def histogram(self) -> PrivateHistogram:
        """Return the mechanism that releases in each round."""
        return PrivateHistogram(
            epsilon=_epsilon_of_each(self.rounds, self.epsilon, self.delta / 2),
            delta=float_at_most(Fraction(self.delta) / 2 / self.rounds),
            neighbours="replace",
        )

    def refuse_to_start(self) -> None:
        """Raise ``TooManyTreesError`` if there are more trees than can be counted."""
        refuse_too_large(self.plan.trees, self.plan.leaves)

    def engine(self, rng: Randomness) -> "FreshCopiesEngine":
        return FreshCopiesEngine(self, rng)


class TreesPlan(NamedTuple):
    """The forest that is grown before every round."""

    base: OnlineLearner
    trees: int
    leaves: int


@dataclass(init=False, eq=False, repr=False)
class FreshCopiesEngine(Engine):
    """All examples so far; nothing else outlives a round."""

    _examples: list[Example]
    hypothesis: Hypothesis
    ledger: Ledger

    def __init__(self, recipe: FreshCopies, rng: Randomness) -> None:
        self._base, self._trees, self._leaves = recipe.plan
        self._budget, self._rng, self._histogram = recipe.budget, rng, recipe.histogram()

    def begin(self) -> None:
        """Publish the base learner's first hypothesis, with one charge for all rounds."""
        self._examples = []
        self.ledger = Ledger(budget=self._budget, private=self._rng.private)
        self.ledger.charge("PrivateHistogram in every round", self._budget, first=1)
        self.hypothesis = one_form(self._base.start().hypothesis)

    def step(self, x: Any, y: Label) -> None:
        """Store the example and release from a fresh forest."""
        self._examples.append((x, y))
        self.idle(x)

    def idle(self, x: Any, /) -> None:
        """Release from a fresh forest."""
        forest = Forest(self._trees, self._leaves, self._base, self._rng)
        for example in self._examples:
            forest.insert(*example)
        order = random_order(forest.shown, self._rng)
        released = self._histogram.release(forest.shown, rng=self._rng, order=order)
        if released:
            self.hypothesis = canonical(max(released, key=released.__getitem__))


def _epsilon_of_each(rounds: int, epsilon: float, extra_delta: float) -> float:
    """Return the budget of each of ``rounds`` releases by advanced composition, verified."""
    spread = math.sqrt(2 * rounds * math.log(1 / extra_delta))
    # The root of rounds/2 e^2 + spread e = epsilon; e tanh(e/2) <= e^2/2 makes it sufficient.
    each = (math.sqrt(spread**2 + 2 * rounds * epsilon) - spread) / rounds
    each = max(each * (1 - 1e-9), epsilon / rounds * (1 - 1e-9))
    cost = PrivacyGuarantee(epsilon=each)
    together = advanced_composition({cost: rounds}, extra_delta=extra_delta)
    if together.epsilon > epsilon:
        raise AssertionError(f"{rounds} releases at {each} cost {together.epsilon} > {epsilon}")
    return each
