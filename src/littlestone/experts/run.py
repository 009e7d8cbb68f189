"""A run of an experts algorithm takes losses that are handed over as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.errors import HorizonExceededError
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.noise_owner import NoiseOwner
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

_MOST_EXPERTS: Final = 1 << 28


class Totals:
    """The total loss of every expert, one number for each."""

    def __init__(self, experts: int) -> None:
        require.integer(experts=experts, at_least=1, at_most=_MOST_EXPERTS)
        self._totals = np.zeros(experts, dtype=np.int64)

    def add(self, losses: NDArray[Any]) -> None:
        """Add a vector of losses that were validated."""
        self._totals += losses

    def as_array(self) -> NDArray[np.int64]:
        return self._totals.copy()

    def of(self, expert: int, /) -> int:
        return int(self._totals[expert])


@dataclass(frozen=True, slots=True)
class Expert:
    """One of several experts, as the function that reads its own loss out of those of all."""

    number: int
    experts: int

    def __call__(self, losses: Any, /) -> Label:
        return int(losses[self.number])

    def many(self, rows: Any, /) -> NDArray[np.uint8]:
        own: NDArray[np.uint8] = rows[:, self.number]
        return own

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Losses in which this expert errs alone."""
        alone = tuple(int(number == self.number) for number in range(self.experts))
        return None if self == other else alone

    def to_json(self) -> dict[str, Any]:
        return {"kind": "expert", "number": self.number, "experts": self.experts}

    def describe(self) -> str:
        return f"expert {self.number} of {self.experts}"


class ExpertsRun(NoiseOwner):
    """``play`` an expert, ``observe`` the losses of all; nothing else is released.

    >>> from littlestone.experts.hedge import Hedge
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
        """One charge, which was made before the first round and covers all of them."""
        promise = self._recipe.guarantee()
        ledger = Ledger(budget=promise, private=self._rng.private)
        if promise.is_private:
            ledger.charge(type(self._recipe).__name__, promise, first=1)
        return ledger

    @property
    def rounds_played(self) -> int:
        return self._played

    @property
    def status(self) -> str:
        return self._strategy.status

    def play(self) -> int:
        """The expert of the coming round; asking twice gives the same answer."""
        return self._strategy.expert

    @property
    def hypothesis(self) -> Expert:
        """The same expert as ``littlestone.game`` sees it."""
        if self._expert.number != self._strategy.expert:
            self._expert = Expert(self._strategy.expert, self._recipe.experts)
        return self._expert

    def observe(self, losses: Any, label: Label = 0, /) -> None:
        """Take the losses of all experts in this round; bad ones are refused without effect.

        A round has no label of its own; in a game its example is (losses, 0).
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
        """Take rounds (rows) until the expert changes or the block ends; returns how many.

        A block longer than the rounds left is cut there.
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
        known = np.asarray(losses)
        experts, largest = self._recipe.experts, self._recipe.loss_scale
        if known.ndim != dimensions or known.shape[-1] != experts or known.dtype.kind not in "biu":
            raise ValueError(
                f"losses must be whole numbers, one for each of the {experts} experts"
                f"{' in every row' if dimensions == 2 else ''}, got shape {known.shape} of "
                f"{known.dtype}"
            )
        if known.size and known.dtype.kind != "b":
            most = np.maximum.reduce(known, axis=None)  # quicker than max() by a half
            least = 0 if known.dtype.kind == "u" else np.minimum.reduce(known, axis=None)
            if least < 0 or most > largest:
                raise ValueError(
                    f"losses must lie between 0 and loss_scale={largest}, got {least} to {most}"
                )
        return known

    def _begin_round(self) -> None:
        self._begin()
        if self._played >= self._recipe.rounds:
            self._break_off(HorizonExceededError(rounds=self._recipe.rounds))
