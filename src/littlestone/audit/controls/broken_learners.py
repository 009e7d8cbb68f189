"""Learners and private prediction with one bug each."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from littlestone.audit import learner_bug_attacks as attacks
from littlestone.audit.attacks import AskAgain
from littlestone.audit.controls.broken_forests import TWO, broken
from littlestone.audit.subjects import small_learners
from littlestone.audit.subjects.learner_subjects import few_copies
from littlestone.audit.substitution import altered, with_engine
from littlestone.audit.two_worlds import Control, Subject, TwoWorldAdversary
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Hypothesis, Label, Point, VersionSpace
from littlestone.learners.engine import Engine
from littlestone.learners.experts.private_prediction import PredictionRun, PrivatePrediction
from littlestone.learners.lazy_forest.eager_forest import EagerForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.fresh import FreshEngine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.restarting import Restarting
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness


class CountsKept(FreshEngine):
    """Keeps the counts of a phase that should start from zero."""

    def _begin_phase(self, space: VersionSpace) -> None:
        counts = getattr(self, "_counts", None)
        super()._begin_phase(space)
        if counts is not None:
            self._counts = counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeltaForEverySelection(FrequentRelease):
    def histogram(self) -> PrivateHistogram:
        return replace(FrequentRelease.histogram(self), delta=self.delta, threshold=None)


def _one_tree() -> EagerForest:
    release = _DeltaForEverySelection(epsilon=1.0, delta=0.1, selections=16, rare_below=10**6)
    return EagerForest(
        concepts=Points(),
        rounds=small_learners.ROUNDS,
        epsilon=1.0,
        delta=0.1,
        trees=1,
        leaves=2,
        release=release,
        base=StandardOptimal(Points()),
    )


@dataclass(init=False, eq=False, repr=False)
class _FlagEngine(Engine):
    """Shows a flag with probability 1/16; only then may the next example leak."""

    _flag: bool
    halted: bool
    hypothesis: Hypothesis
    ledger: Ledger

    status: ClassVar[str] = "learning"

    def __init__(self, rng: Randomness) -> None:
        self._rng = rng

    def begin(self) -> None:
        self._flag, self.halted = self._rng.below(16) == 0, False
        self.hypothesis = FiniteSupport.on("flag") if self._flag else FiniteSupport.on()
        self.ledger = Ledger(budget=TWO, private=self._rng.private)

    def step(self, x: Any, y: Label) -> None:
        if self._flag and y and self._rng.coin():
            self.hypothesis = FiniteSupport.on(x)
        self.halted = not self.hypothesis(x)

    def steps(self, xs: Any, ys: Any) -> int:
        self.step(xs[0], int(ys[0]))
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLearner(PrivateLearner):
    """(0, 1/32)-private, but not conditionally on what it showed before; it says that it is."""

    concepts: Points = field(default_factory=Points)
    rounds: int = small_learners.ROUNDS
    max_contributions: int = 1

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True  # the lie

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Return the cost of one example."""
        return PrivacyGuarantee(epsilon=0.0, delta=1 / 32)

    def engine(self, rng: Randomness) -> Engine:
        return _FlagEngine(rng)


def _two_witnesses() -> PrivateMajority:
    plan = FreshPlan(threshold_epsilon=0.1, threshold=10, selection_rate=0.9)
    cost = plan.guarantee(delta=0.0)
    return PrivateMajority(
        concepts=Thresholds(3), rounds=small_learners.ROUNDS, epsilon=cost.epsilon, plan=plan
    )


class TeachesAll(PredictionRun):
    """A bug: every copy learns from every example."""

    def _teach(self, x: Point, y: Label) -> None:
        for state, count in list(self._groups.items()):
            new = state.after(x, y)
            if state.hypothesis(x) != y and not new.failed:
                del self._groups[state]
                self._groups[new] = self._groups.get(new, 0) + count
        self._votes.clear()


class NoNoise(PredictionRun):
    """A bug: the exact majority, which a single copy may decide."""

    def _two_answers(self, x: Point) -> tuple[Label, Label]:
        majority = int(2 * self._ones(x) > len(self._copies))
        return majority, majority


def with_run(recipe: PrivatePrediction, run: type[PredictionRun]) -> PrivatePrediction:
    """Return the recipe with another type of run."""
    return altered(recipe, start=lambda recipe, *, rng: run(recipe, rng))


def _control(
    name: str,
    bug: str,
    recipe: PrivatePrediction,
    run: type[PredictionRun],
    adversary: TwoWorldAdversary,
) -> Control:
    subject = Subject.from_predictor(with_run(recipe, run), name=name)
    return Control(subject=subject, adversary=adversary, bug=f"PrivatePrediction: {bug}")


CONTROLS = (
    broken(
        "eager-delta-not-divided",
        "EagerForest: each of sixteen selections spends the whole delta",
        _one_tree(),
        attacks.RareListing(),
    ),
    broken(
        "majority-counts-kept",
        "PrivateMajority: the next phase draws from the same counts of mistakes again",
        with_engine(small_learners.fresh_majority(1.0, keys=2, share=0.5), CountsKept),
        attacks.CountsOfEarlierPhases(),
    ),
    broken(
        "majority-one-witness-priced",
        "PrivateMajority: the draw pays for an added mistake, not for a replaced one",
        _two_witnesses(),
        attacks.OtherWitness(),
        claimed=PrivacyGuarantee(epsilon=1.0),
    ),
    broken(
        "restarts-wrongly-free",
        "Restarting a learner whose delta was spent before the special round, for free",
        Restarting(learner=FlagLearner()),
        attacks.WaitForTheFlag(),
    ),
    _control(
        "prediction-all-copies",
        "every copy is taught each example",
        few_copies(1.0, 1e-6, copies=64),
        TeachesAll,
        AskAgain(most=20),
    ),
    _control(
        "prediction-no-noise",
        "the majority of the copies, without noise",
        few_copies(1.0, 1e-6),
        NoNoise,
        AskAgain(most=1),
    ),
)
