"""The base class of learners that run copies of another learner, and its engine."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.composition import parallel_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Charge, Ledger
from littlestone.randomness import Randomness

_MOST_COPIES: Final = 10**6


@require.checked
class Wrapper(PrivateLearner):
    """A recipe with the field ``learner``, whose copies run one after another."""

    __slots__ = ()

    learner: PrivateLearner

    @property
    def concepts(self) -> ConceptClass:
        """The class of the learner."""
        return self.learner.concepts

    @property
    def rounds(self) -> int | None:
        """The horizon of the learner."""
        return self.learner.rounds

    @property
    def max_contributions(self) -> int:
        """The learner's limit per user."""
        return self.learner.max_contributions

    @property
    def oblivious_only(self) -> bool:
        """Whether the learner's accuracy is promised against oblivious adversaries only."""
        return self.learner.oblivious_only

    @property
    def prefix_conditional(self) -> bool:
        """Whether the learner is private conditionally on every prefix."""
        return self.learner.prefix_conditional

    def check_copies(self, copy: str, *, at_least: int, **named: int | None) -> None:
        """Raise if the number of copies is unknown although each costs something."""
        ((name, count),) = named.items()
        if count is not None:
            require.integer(at_least=at_least, at_most=_MOST_COPIES, **named)
        elif not self.prefix_conditional:
            raise ValueError(
                f"{name} must be given for a learner that is not private conditionally on every "
                f"prefix: each {copy} costs delta once more, got {name}=None"
            )

    def cost_of_copies(self, each: PrivacyGuarantee, copies: int | None) -> PrivacyGuarantee:
        """Return the cost of ``copies`` copies, or of any number of them if None."""
        if copies is not None:
            require.integer(copies=copies, at_least=1, at_most=_MOST_COPIES)
        return parallel_composition(
            [each] * (copies or 1), prefix_conditional=self.prefix_conditional
        )


@dataclass(init=False, eq=False, repr=False)
class CopiesEngine(Engine):
    """Run one copy at a time; the ledger has a line for each."""

    _played: int
    _ended: int
    """How many copies have ended: the number of the current one, unless it was the last."""
    ledger: Ledger
    _charge: Charge
    _copy: Engine

    def __init__(self, recipe: Any, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._present: PrivateLearner
        """The recipe of the current copy."""

    @abstractmethod
    def _learner(self, number: int) -> PrivateLearner:
        """Return the recipe of a copy (from 0); beyond the last one, that of the last."""

    @property
    def _last_round(self) -> int | None:
        """The last round of the current copy, if known in advance."""
        return None

    @abstractmethod
    def _start_next(self) -> None:
        """Start another copy if this one has ended and another is allowed."""

    def begin(self) -> None:
        """Start the first copy."""
        self._played, self._ended = 0, 0
        self.ledger = Ledger(budget=self._recipe.per_example, private=self._rng.private)
        self._start_copy()

    def load(self, state: tuple[Any, ...]) -> None:
        """Continue the copy that the state names."""
        _, ended, *_ = state
        self._resume(self._learner(ended), state)

    def _resume(self, learner: PrivateLearner, state: tuple[Any, ...]) -> None:
        """Continue with a copy of ``learner``."""
        self._present = learner
        self._copy = learner.engine(self._rng)
        super().load(state)

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis of the current copy."""
        return self._copy.hypothesis

    def step(self, x: Any, y: Label) -> None:
        """Take one round, unless halted."""
        if not self.halted:
            self._copy.step(x, y)
            self._played += 1
            self._start_next()

    def idle(self, x: Any, /) -> None:
        """Take a round without an example, unless halted."""
        if not self.halted:
            self._copy.idle(x)
            self._played += 1
            self._start_next()

    def steps(self, xs: Any, ys: Any) -> int:
        """Take rounds of the current copy; return how many."""
        if self.halted:
            return len(ys)
        left = None if self._last_round is None else self._last_round - self._played
        taken = self._copy.steps(xs[:left], ys[:left])
        self._played += taken
        self._start_next()
        return taken

    def _start_copy(self) -> None:
        learner = self._present = self._learner(self._ended)
        self._charge = self.ledger.charge(
            type(learner).__name__,
            learner.per_example,
            first=self._played + 1,
            last=self._last_round,
            prefix_conditional=learner.prefix_conditional,
        )
        self._copy = learner.engine(self._rng)
        self._copy.begin()
