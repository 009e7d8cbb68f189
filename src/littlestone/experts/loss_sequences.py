"""Losses in experiments come from oblivious sequences, or from one adaptive adversary."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.game.protocols import Opponent
from littlestone.randomness import Randomness

Losses = NDArray[np.uint8]


class LossAdversary(Opponent, Protocol):
    """A frozen recipe for losses; an example is (losses of all experts, 0)."""

    @property
    def experts(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBetter:
    """Independent losses, 1 with probability 1/2, and 1/2 - ``gap`` for expert 0."""

    experts: int
    gap: float

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(experts=self.experts, at_least=2)
        if not 0 <= self.gap <= 0.5:
            raise ValueError(f"gap must lie between 0 and 1/2, got gap={self.gap!r}")

    def chances(self) -> NDArray[np.float64]:
        """The probability of a loss, for each expert."""
        return np.array([0.5 - self.gap] + [0.5] * (self.experts - 1))

    def start(self, *, rng: Randomness) -> "ObliviousLosses":
        generator, chances = rng.generator(), self.chances()

        def block(count: int) -> Losses:
            losses: Losses = (generator.random((count, self.experts)) < chances).astype(np.uint8)
            return losses

        return ObliviousLosses(block)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNeverErrs:
    """In ``losses`` of ``rounds`` rounds, evenly spread, all experts but expert 0 have loss 1."""

    experts: int
    rounds: int
    losses: int

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(experts=self.experts, at_least=2)
        require.integer(rounds=self.rounds, at_least=1)
        if not 0 <= self.losses <= self.rounds:
            raise ValueError(
                f"losses must lie between 0 and rounds={self.rounds}, got losses={self.losses!r}"
            )

    def start(self, *, rng: Randomness) -> "ObliviousLosses":
        del rng  # deterministic
        played = 0

        def block(count: int) -> Losses:
            nonlocal played
            ends = np.arange(played, played + count + 1) * self.losses // self.rounds
            played += count
            rows = np.repeat(np.diff(ends).astype(np.uint8)[:, np.newaxis], self.experts, axis=1)
            rows[:, 0] = 0
            return rows

        return ObliviousLosses(block)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeTheSeen:
    """Charge the expert that was seen in the round before, and nobody else."""

    experts: int

    adaptive: ClassVar[bool] = True

    def start(self, *, rng: Randomness) -> "ChargeTheSeenAttack":
        del rng  # deterministic
        return ChargeTheSeenAttack(self.experts)


class ChargeTheSeenAttack:
    """Keeps one vector for each expert."""

    def __init__(self, experts: int) -> None:
        self._charges = np.eye(experts, dtype=np.uint8)

    def choose(self, seen: Any, /) -> tuple[Any, int]:
        return self._charges[0 if seen is None else seen.number], 0


class ObliviousLosses:
    """An oblivious sequence, made in blocks ahead of time."""

    _BLOCK: ClassVar[int] = 1024

    def __init__(self, make: Callable[[int], Losses]) -> None:
        self._make = make
        self._rows: Losses = make(0)
        self._next = 0

    def choose(self, seen: Any, /) -> tuple[Any, int]:
        rows, _ = self.plan(seen, 1)
        self.played(1)
        return rows[0], 0

    def plan(self, seen: Any, most: int, /) -> tuple[Losses, NDArray[np.uint8]]:
        del seen  # oblivious
        if self._next >= len(self._rows):
            self._rows, self._next = self._make(self._BLOCK), 0
        rows = self._rows[self._next : self._next + most]
        return rows, np.zeros(len(rows), dtype=np.uint8)

    def played(self, count: int, /) -> None:
        self._next += count
