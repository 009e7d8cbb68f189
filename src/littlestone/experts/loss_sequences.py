"""Where losses come from in experiments: oblivious sequences, and one adaptive adversary."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.randomness import Randomness

Losses = NDArray[np.uint8]


class LossAttack(Protocol):
    """One run of an adversary."""

    def choose(self, seen: int | None, /) -> Losses:
        """The losses of all experts; ``seen`` is the expert of the round before, None at first."""
        ...


class LossAdversary(Protocol):
    """A frozen recipe for losses."""

    @property
    def experts(self) -> int: ...

    @property
    def adaptive(self) -> bool:
        """Whether the losses depend on the experts that were played."""
        ...

    def start(self, *, rng: Randomness) -> LossAttack: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBetter:
    """Independent losses, 1 with probability 1/2, and 1/2 - ``gap`` for expert 0."""

    experts: int
    gap: float

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.integer(experts=self.experts, at_least=2)
        if not 0 <= self.gap <= 0.5:
            raise ValueError(f"gap must lie between 0 and 1/2, got gap={self.gap!r}")

    def start(self, *, rng: Randomness) -> "BlockAttack":
        chances = np.full(self.experts, 0.5)
        chances[0] -= self.gap
        return _independent(chances, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """Independent losses, 1 with a probability that rises evenly from 1/2 - ``gap`` to 1/2."""

    experts: int
    gap: float

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.integer(experts=self.experts, at_least=2)
        if not 0 <= self.gap <= 0.5:
            raise ValueError(f"gap must lie between 0 and 1/2, got gap={self.gap!r}")

    def start(self, *, rng: Randomness) -> "BlockAttack":
        return _independent(np.linspace(0.5 - self.gap, 0.5, self.experts), rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Two experts; in each block of ``length`` rounds a fair coin says which one errs always.

    Whoever cannot react within a block has regret of about 0.4 sqrt(rounds * length)
    (lazy_switching.md).
    """

    length: int

    experts: ClassVar[int] = 2
    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.integer(length=self.length, at_least=1)

    def start(self, *, rng: Randomness) -> "BlockAttack":
        def block(count: int) -> Losses:
            coins = rng.below_many(2, -(-count // self.length))
            bad = np.repeat(coins, self.length)
            losses: Losses = (bad[:, np.newaxis] == np.arange(2)).astype(np.uint8)
            return losses

        return BlockAttack(block)


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

    def choose(self, seen: int | None, /) -> Losses:
        charges: Losses = self._charges[0 if seen is None else seen]
        return charges


class BlockAttack:
    """An oblivious sequence, made in blocks ahead of time."""

    _BLOCK: ClassVar[int] = 1024

    def __init__(self, make: Callable[[int], Losses]) -> None:
        self._make = make
        self._rows: Losses = make(0)
        self._next = 0

    def choose(self, seen: int | None, /) -> Losses:
        del seen
        losses: Losses = self.several(1)[0]
        return losses

    def several(self, most: int) -> Losses:
        """The next rows, at most this many, at least one."""
        if self._next >= len(self._rows):
            self._rows, self._next = self._make(self._BLOCK), 0
        rows = self._rows[self._next : self._next + most]
        self._next += len(rows)
        return rows


def _independent(chances: NDArray[np.float64], rng: Randomness) -> BlockAttack:
    generator = rng.generator()

    def block(count: int) -> Losses:
        losses: Losses = (generator.random((count, len(chances))) < chances).astype(np.uint8)
        return losses

    return BlockAttack(block)
