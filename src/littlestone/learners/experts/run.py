"""Runs of experts algorithms on losses that are passed as arrays, and private draws of experts."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.errors import HorizonExceededError
from littlestone.learners.experts.protocols import ExpertsRecipe, Strategy
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.incremental_selection import GrowingScores, IncrementalSelection
from littlestone.privacy.rounding import float_at_least, float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner

_MOST_EXPERTS: Final = 1 << 28


class Totals:
    """The total loss of every expert."""

    def __init__(self, experts: int) -> None:
        require.integer(experts=experts, at_least=1, at_most=_MOST_EXPERTS)
        self._totals = np.zeros(experts, dtype=np.int64)

    def add(self, losses: NDArray[Any]) -> None:
        """Add a vector of validated losses."""
        self._totals += losses

    def as_array(self) -> NDArray[np.int64]:
        """Return a copy of all totals."""
        return self._totals.copy()

    def of(self, expert: int, /) -> int:
        """Return the total loss of one expert."""
        return int(self._totals[expert])


@dataclass(frozen=True, slots=True)
class Expert:
    """One expert, as the function that reads its own loss from the losses of all."""

    number: int
    experts: int

    def __call__(self, losses: Any, /) -> Label:
        return int(losses[self.number])

    def many(self, rows: Any, /) -> NDArray[np.uint8]:
        """Return its losses in several rounds."""
        own: NDArray[np.uint8] = rows[:, self.number]
        return own

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Return losses in which this expert errs alone; None if the other is equal."""
        alone = tuple(int(number == self.number) for number in range(self.experts))
        return None if self == other else alone

    def to_json(self) -> dict[str, Any]:
        """Return its JSON form."""
        return {"kind": "expert", "number": self.number, "experts": self.experts}

    def describe(self) -> str:
        """Return its number in words."""
        return f"expert {self.number} of {self.experts}"


class ExpertsRun(NoiseOwner):
    """Run an experts algorithm: ``play`` an expert, ``observe`` the losses of all.

    >>> from littlestone.learners.experts.exponential_weights import Hedge
    >>> from littlestone.randomness import seeded
    >>> run = Hedge(experts=3, rounds=100).start(rng=seeded(1))
    >>> for _ in range(100):
    ...     run.observe([1, 0, 1])
    >>> run.play()
    1
    """

    def __init__(self, recipe: ExpertsRecipe, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._totals = Totals(recipe.experts)
        self._strategy = recipe.strategy(self._totals, rng)
        self._strategy.begin()
        self._expert = Expert(self._strategy.expert, recipe.experts)
        self._played = 0

    @property
    def ledger(self) -> Ledger:
        """One charge, made before the first round, which covers all rounds."""
        promise = self._recipe.guarantee()
        ledger = Ledger(budget=promise, private=self._rng.private)
        if promise.is_private:
            ledger.charge(type(self._recipe).__name__, promise, first=1)
        return ledger

    @property
    def rounds_played(self) -> int:
        """The number of rounds taken."""
        return self._played

    @property
    def status(self) -> str:
        """``learning``, or why the strategy stopped."""
        return self._strategy.status

    def play(self) -> int:
        """Return the expert of the next round; calling it twice gives the same answer."""
        return self._strategy.expert

    @property
    def hypothesis(self) -> Expert:
        """The same expert, as ``littlestone.game`` sees it."""
        if self._expert.number != self._strategy.expert:
            self._expert = Expert(self._strategy.expert, self._recipe.experts)
        return self._expert

    def observe(self, losses: Any, label: Label = 0, /) -> None:
        """Take the losses of all experts in this round; bad ones raise and change nothing.

        A round has no label; in a game its example is (losses, 0).
        """
        del label
        known = self._checked(losses, dimensions=1)
        self._begin_round()
        self._strategy.take((int(known[self._strategy.expert]),))
        self._totals.add(known)
        self._played += 1
        self._strategy.settle()
        self._end()

    def observe_many(self, losses: Any, labels: Any = None, /) -> int:
        """Take rounds (rows) until the expert changes or the block ends; return how many.

        A block longer than the rounds left is cut.
        """
        del labels
        known = self._checked(losses, dimensions=2)
        if not len(known):
            return 0
        self._begin_round()
        known = known[: self._recipe.rounds - self._played]
        expert, taken = self._strategy.expert, 0
        own: Sequence[int] = known[:, expert].tolist()
        while taken < len(known) and self._strategy.expert == expert:
            count = self._strategy.take(own[taken:] if taken else own)
            self._totals.add(known[taken : taken + count].sum(axis=0, dtype=np.int64))
            self._played += count
            taken += count
            self._strategy.settle()
        self._end()
        return taken

    def _checked(self, losses: ArrayLike, *, dimensions: int) -> NDArray[Any]:
        known = require.array(losses=losses)
        experts, largest = self._recipe.experts, self._recipe.loss_scale
        if known.ndim != dimensions or known.shape[-1] != experts or known.dtype.kind not in "biu":
            raise ValueError(
                f"losses must be whole numbers, one for each of the {experts} experts"
                f"{' in every row' if dimensions == 2 else ''}, got shape {known.shape} of "
                f"{known.dtype}"
            )
        if known.size and known.dtype.kind != "b":
            most = np.maximum.reduce(known, axis=None)  # half the time of max()
            least = 0 if known.dtype.kind == "u" else np.minimum.reduce(known, axis=None)
            if least < 0 or most > largest:
                raise ValueError(
                    f"losses must lie between 0 and loss_scale={largest}, got {least} to {most}"
                )
        # numpy adds 64-bit integers with and without a sign as floats, or refuses to.
        signless = known.dtype.kind == "u" and known.dtype.itemsize == 8
        return known.astype(np.int64) if signless else known

    def _begin_round(self) -> None:
        self._begin()
        if self._played >= self._recipe.rounds:
            self._break_off(HorizonExceededError(rounds=self._recipe.rounds))


_MOST_FLOOR_BITS = 64


@lru_cache(maxsize=256)
def zcdp_budget(epsilon: float, delta: float) -> float:
    """Return the largest rho within (epsilon, delta)."""
    return ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho


def selection(*, rate: float, experts: int, rounds: int, loss_scale: int) -> IncrementalSelection:
    """Return the draw with probability proportional to exp(-rate * total / loss_scale).

    Replacing one example moves each total by at most ``loss_scale``, so the log-likelihood ratio of
    a draw spans at most 2 * rate.
    """
    # Low enough for the floor to cost less than 1/1000 of one round's loss.
    floor_bits = min(experts.bit_length() + rounds.bit_length() + 12, _MOST_FLOOR_BITS)
    epsilon = float_at_most(2 * Fraction(rate))
    try:
        mechanism = ExponentialMechanism(
            epsilon=epsilon, range_width=2 * loss_scale, floor_bits=floor_bits
        )
    except ValueError as refusal:
        raise ValueError(
            f"rounds={rounds!r} and this budget need the rate {rate:.2g}, too small for exact "
            f"weights; allow a larger epsilon, fewer rounds or longer batches"
        ) from refusal
    # No weight falls by more than a factor of e in this many rounds.
    return IncrementalSelection(mechanism=mechanism, refresh=max(1, int(1 / rate)))


def table_error(chosen: IncrementalSelection, *, experts: int) -> float:
    """Bound the total variation between the sampled law and exact exponential weights.

    It comes from rounding the table and its floor (privacy/mechanisms/incremental_selection.md).
    """
    table = chosen.mechanism._table
    floor = Fraction(4 * experts, 1 << chosen.mechanism.floor_bits)
    return float_at_least(floor + Fraction(table.length_upper_bound, 1 << 53))


class Drawing(Protocol):
    """What a strategy draws its experts with."""

    def draw(self) -> int:
        """Draw the number of an expert, or of a group of them."""

    def passed(self, rounds: int) -> None:
        """Record that the losses have grown by this many rounds."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingRecipe(ExpertsRecipe, ABC):
    """Base class of recipes that draw experts by exponential weights of the total losses.

    The ``__post_init__`` of a subclass checks the sizes and sets what follows from them.
    """

    experts: int
    rounds: int
    _selection: IncrementalSelection = field(init=False, repr=False, compare=False)
    _guarantee: PrivacyGuarantee = field(init=False, repr=False, compare=False)

    prefix_conditional: ClassVar[bool] = True

    @abstractmethod
    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> Strategy:
        """Return the strategy that draws by ``drawing``, before ``begin``."""

    def _check_sizes(self) -> None:
        require.usual_fields(self)
        require.integer(loss_scale=self.loss_scale, at_least=1)

    def _drawing(self, rate: float) -> IncrementalSelection:
        return selection(
            rate=rate, experts=self.experts, rounds=self.rounds, loss_scale=self.loss_scale
        )

    def guarantee(self) -> PrivacyGuarantee:
        """Return what all experts played together promise; at most the requested budget."""
        return self._guarantee

    def for_rounds(self, rounds: int) -> Self:
        """Return the recipe for another horizon, planned again."""
        return replace(self, rounds=rounds)

    def start(self, *, rng: Randomness) -> ExpertsRun:
        return ExpertsRun(self, rng)

    def strategy(self, totals: GrowingScores, rng: Randomness, /) -> Strategy:
        return self.strategy_of(self._selection.start(totals, rng=rng), rng)
