"""Private prediction from experts on a finite class: the experts are its concepts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from littlestone import require
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.agnostic_finite.batch_queries import has_few_queries
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine, round_at
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.protocols import ExpertsRecipe, Strategy
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

MOST_CONCEPTS: Final = 1 << 22
MOST_IN_A_BATCH: Final = 1 << 22
_FIRST_WINDOW: Final = 64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticFinite(Budgeted):
    """Publish one concept of a finite class, chosen by private prediction from experts.

    No concept needs to fit the stream: the bound is on the regret, the mistakes beyond those of
    the best concept. Each round's concept is a fresh draw from noisy losses (``NoisyLosses``,
    with noise correlated in time against ``"oblivious"`` adversaries). Where its bound is
    smaller, a private draw in every round is used instead, or a concept that is kept while it
    does well. Any of these, or another experts recipe, can be given as ``experts``.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta); per user (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round in which a concept is drawn takes longer
        Proof:      recipe.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = AgnosticFinite(
    ...     concepts=Thresholds(99), rounds=10**6, epsilon=1.0, delta=1e-6, adversary="oblivious"
    ... )
    >>> learner.expected_regret_bound() < 2300, learner.oblivious_only
    (True, True)
    >>> type(learner.prediction).__name__
    'NoisyLosses'
    """

    adversary: Literal["adaptive", "oblivious"] = "adaptive"
    experts: ExpertsRecipe | NoisyLosses | None = None

    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, max_contributions=self.max_contributions, at_least=1)
        if self.adversary not in ("adaptive", "oblivious"):
            raise ValueError(
                f"adversary must be 'adaptive' or 'oblivious', got adversary={self.adversary!r}"
            )
        size = self.concepts.size
        if size is None or size > MOST_CONCEPTS:
            raise ValueError(
                f"concepts must have at most {MOST_CONCEPTS} members, got "
                f"{'infinitely many' if size is None else size} in concepts={self.concepts!r}"
            )
        if self.experts is None:
            object.__setattr__(self, "experts", self._planned(size))
        self._refuse_mismatch(self.prediction, size)

    def _planned(self, size: int) -> "ExpertsRecipe | NoisyLosses":
        """Return noisy losses with the largest rate that keeps the rival's bound, or the rival.

        The rival draws privately in every round or, on oblivious streams, keeps its concept.
        """
        budget: Any = {"rounds": self.rounds, "epsilon": self.epsilon, "delta": self.delta}
        oblivious = self.adversary == "oblivious"
        recipe = ShrinkingDartboard if oblivious else ExponentialWeights
        if not has_few_queries(self.concepts):
            return recipe(experts=size, **budget)
        noisy = NoisyLosses(concepts=self.concepts, oblivious_only=oblivious, **budget)
        try:
            rival = recipe(experts=size, **budget)
        except ValueError:
            return noisy
        return noisy.bounded_by(rival.expected_regret_bound()) or rival

    def _refuse_mismatch(self, given: "ExpertsRecipe | NoisyLosses", size: int) -> None:
        if isinstance(given, NoisyLosses) and given.concepts != self.concepts:
            raise ValueError(
                f"experts must be for concepts={self.concepts!r}, got experts={given!r}"
            )
        if (given.experts, given.rounds, given.loss_scale) != (size, self.rounds, 1):
            raise ValueError(
                f"experts must be for {size} experts, {self.rounds} rounds and losses 0 or 1, "
                f"got experts={given!r}"
            )
        if not given.prefix_conditional or not given.guarantee().within(self.budget):
            raise ValueError(
                f"experts must be private within epsilon={self.epsilon!r}, delta={self.delta!r} "
                f"conditionally on every prefix, got {given.guarantee()}"
            )
        if given.oblivious_only and self.adversary == "adaptive":
            raise ValueError(
                f"experts must promise regret against adaptive adversaries, got experts={given!r}; "
                f"or choose adversary='oblivious'"
            )

    @property
    def prediction(self) -> ExpertsRecipe | NoisyLosses:
        """The experts recipe in use, given or planned."""
        assert self.experts is not None
        return self.experts

    @property
    def oblivious_only(self) -> bool:
        """Whether regret is promised against oblivious adversaries only."""
        return self.prediction.oblivious_only

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The guarantee of the experts recipe."""
        return self.prediction.guarantee()

    @property
    def concentrated(self) -> ZeroConcentrated | None:
        """The zCDP cost of the run, where the experts recipe knows it."""
        found = self.prediction
        if isinstance(found, NoisyLosses | ExponentialWeights):
            return found.zero_concentrated()
        return None

    def expected_regret_bound(self) -> float:
        """Bound the expected regret against the adversaries that are allowed."""
        return min(self.prediction.expected_regret_bound(), float(self.rounds))

    def regret_bound(self, *, failure_probability: float) -> float:
        """Return a high-probability regret bound; it may be far above the mean."""
        deviation = self.prediction.deviation_bound(failure_probability=failure_probability)
        return min(self.prediction.expected_regret_bound() + deviation, float(self.rounds))

    def for_rounds(self, rounds: int) -> "AgnosticFinite":
        """Return the same learner for another horizon, planned again."""
        return replace(self, rounds=rounds, experts=self.prediction.for_rounds(rounds))

    def refuse_to_start(self) -> None:
        """Raise a ValueError if a batch is longer than what is drawn for it may be."""
        found = self.prediction
        if isinstance(found, NoisyLosses) and max(found.lengths) > MOST_IN_A_BATCH:
            raise ValueError(
                f"rounds must be fewer: the rules of a batch are drawn when it begins, at most "
                f"{MOST_IN_A_BATCH:,} of them, got {max(found.lengths):,} for "
                f"rounds={self.rounds:,}"
            )

    def engine(self, rng: Randomness, /) -> Engine:
        if isinstance(self.prediction, NoisyLosses):
            return NoisyLossesEngine(self.prediction, rng)
        return AgnosticFiniteEngine(self.concepts, self.prediction, rng)


@dataclass(init=False, eq=False, repr=False)
class AgnosticFiniteEngine(Engine):
    """Feed the strategy the losses of its concept, and the loss table the examples."""

    first_rounds: ClassVar[int] = 1

    _totals: LossTable
    ledger: Ledger
    hypothesis: Hypothesis
    _strategy: Strategy

    def __init__(self, concepts: ConceptClass, prediction: ExpertsRecipe, rng: Randomness) -> None:
        self._prediction, self._rng = prediction, rng
        self._totals = LossTable(concepts)
        self._strategy = prediction.strategy(self._totals, rng)
        self._expert = -1

    def begin(self) -> None:
        """Draw the first concept, with one charge for the whole run."""
        prediction, cost = self._prediction, self._prediction.guarantee()
        self._strategy.begin()
        self.ledger = Ledger(budget=cost, private=self._rng.private)
        self.ledger.charge(type(prediction).__name__, cost, first=1)
        self._publish()

    def loaded(self) -> None:
        """Publish the restored strategy's concept."""
        self._publish()

    @property
    def halted(self) -> bool:
        """Whether the strategy has stopped changing its expert."""
        return self._strategy.status != "learning"

    @property
    def status(self) -> str:
        """The status of the strategy."""
        return self._strategy.status

    def step(self, x: Any, y: Label, /) -> None:
        self._strategy.take((int(self.hypothesis(x) != y),))
        self._totals.add(x, y)
        self._strategy.settle()
        self._publish()

    def idle(self, x: Any, /) -> None:
        """Take a round without an example: no concept has a loss."""
        self._strategy.take((0,))
        self._strategy.settle()
        self._publish()

    def steps(self, xs: Any, ys: Any, /) -> int:
        expert, taken, window = self._expert, 1, _FIRST_WINDOW
        self.step(*round_at(xs, ys, 0))  # the first round often brings a new concept
        while taken < len(ys) and self._expert == expert:
            points, labels = xs[taken : taken + window], ys[taken : taken + window]
            own: Sequence[int] = (self.hypothesis.many(points) != labels).tolist()
            count = self._strategy.take(own)
            assert count > 0  # only an altered state takes none; the loop would not end
            self._totals.add_many(points[:count], labels[:count])
            self._strategy.settle()
            self._publish()
            taken += count
            window *= 2
        return taken

    def _publish(self) -> None:
        if self._strategy.expert != self._expert:
            self._expert = self._strategy.expert
            self.hypothesis = self._totals.concept(self._expert)
