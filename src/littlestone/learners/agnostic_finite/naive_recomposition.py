"""Baseline: the exponential mechanism in every round, composed over all rounds."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.losses.listing import require_listable
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveRecomposition(Budgeted):
    """Baseline: in every round draw a concept by its mistakes so far.

    Privacy:
        Releases:   the concept drawn in every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta); per user (``max_contributions`` examples) by group privacy
        Assumes:    nothing beyond ideal randomness
        Proof:      naive_recomposition.md

    Mistakes: O(sqrt(T log(1/delta)) log |H| / epsilon) against adversaries that do not know the
    concept of the round that they play in (``play`` without ``peek``). All rounds share one
    budget, so the rate of the mechanism falls like the root of their number; ``PrivateMajority``
    pays only where it changes its mind.
    """

    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise()
        require_listable(self.concepts)
        rho = ZeroConcentrated.largest(epsilon=self.epsilon, delta=self.delta).rho
        width = math.sqrt(8 * rho / self.rounds) * (1 - 2.0**-40)
        # A replaced example moves each loss by -1, 0 or 1: a range of two.
        mechanism = ExponentialMechanism(epsilon=float_at_most(width), range_width=2)
        object.__setattr__(self, "_mechanism", mechanism)

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The cost of one draw per round; the first example is read by all of them."""
        return self.concentrated.guarantee(delta=self.delta)

    @property
    def concentrated(self) -> ZeroConcentrated:
        """The zCDP cost of all draws, each of which reads every example."""
        one = ZeroConcentrated.from_bounded_range(self._mechanism.epsilon)
        return ZeroConcentrated.rounded_up(rho=Fraction(one.rho) * self.rounds)

    def mistake_bound(self, *, failure_probability: float) -> float:
        shares = math.log(require_listable(self.concepts)) / -math.expm1(-self._mechanism.eta)
        surprise = -math.log(failure_probability)
        thetas = (step / 50 for step in range(1, 101))
        bound = min((math.expm1(theta) * shares + surprise) / theta for theta in thetas)
        return min(float(self.rounds), bound * (1 + 1e-6))

    def engine(self, rng: Randomness) -> "NaiveRecompositionEngine":
        return NaiveRecompositionEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class NaiveRecompositionEngine(Engine):
    """The losses of all concepts, and one draw per round."""

    ledger: Ledger
    _losses: LossTable
    hypothesis: Hypothesis

    def __init__(self, recipe: NaiveRecomposition, rng: Randomness) -> None:
        self._recipe, self._mechanism, self._rng = recipe, recipe._mechanism, rng
        self._losses = LossTable(recipe.concepts)

    def begin(self) -> None:
        """Draw the first concept, with one charge for all rounds."""
        self.ledger = Ledger(budget=self._recipe.budget, private=self._rng.private)
        self.ledger.charge("one draw a round", self._recipe.per_example, first=1)
        self._draw()

    def step(self, x: Any, y: Label) -> None:
        """Add the losses of the example and draw."""
        self._losses.add(x, y, 1)  # (L2)
        self._draw()

    def idle(self, x: Any, /) -> None:
        """Draw from the unchanged losses."""
        self._draw()

    def _draw(self) -> None:
        chosen = self._mechanism.draw(self._losses.as_array(), rng=self._rng)  # (L1)
        self.hypothesis = self._losses.majority_of(chosen)
