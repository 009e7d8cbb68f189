"""Enumerate coins instead of drawing them: one run for each outcome."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import ceil, comb, floor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.audit.exact.masses import NOTHING, ONE, UNIT, Mass, exp_mass
from littlestone.errors import LittlestoneError
from littlestone.randomness import Randomness
from littlestone.randomness.word_sources import OperatingSystem

# Ranges up to this size are enumerated; larger ones only as far as comparisons need.
_FEW: Final = 64
_MANY: Final = 1 << 16


class TooLightError(LittlestoneError):
    """Every continuation of a run is negligible."""


@dataclass(slots=True)
class Decision:
    """The non-negligible cases of one decision, and the one that this run takes."""

    cases: list[tuple[int, Mass]]
    """The number of each case, and the mass of the run up to and including it."""
    taken: int = 0

    def next(self) -> bool:
        """Take the next case, if there is one."""
        self.taken += 1
        return self.taken < len(self.cases)


class Tape(Randomness):
    """The coins of one run: those of ``path`` first, then the first case of each decision.

    A random decision is a call of ``choose`` with the masses of its cases. Cases that together
    weigh less than ``negligible`` are omitted; the sum of all runs' masses shows how much is
    missing. A raw word has too many values to enumerate, so raw words are chosen uniformly from
    ``words``; without ``words`` they are an error.
    """

    __slots__ = ("_given", "_made", "_negligible", "left", "mass", "path")

    def __init__(
        self, path: list[Decision], *, rounds: int, negligible: int, words: Any = ()
    ) -> None:
        super().__init__(OperatingSystem())  # never used
        self.path, self._negligible = path, negligible
        self._made, self._given = 0, words
        self.mass = ONE
        self.left = rounds
        """The most rounds that are still to be played."""

    def choose(self, cases: Iterable[Mass]) -> int:
        """Return the number of the case that occurs in this run.

        There may be infinitely many cases; they end when all further ones are negligible.
        """
        if self._made == len(self.path):
            self.path.append(Decision(self._worth_following(cases)))
        decision = self.path[self._made]
        self._made += 1
        number, self.mass = decision.cases[decision.taken]
        return number

    def _worth_following(self, cases: Iterable[Mass]) -> list[tuple[int, Mass]]:
        cases_left, seen = [], 0
        for number, case in enumerate(cases):
            seen += case.low
            mass = self.mass.times(case)
            if mass.high >= self._negligible:
                cases_left.append((number, mass))
            if (UNIT - seen) * self.mass.high < self._negligible * UNIT:
                break
        if not cases_left:
            raise TooLightError("every case is negligible")
        return cases_left

    @property
    def private(self) -> bool:
        """False: nothing on a tape is secret."""
        return False

    def spawn(self, count: int) -> list[Randomness]:
        """Return this tape ``count`` times."""
        return [self] * count  # independent draws may be chosen in any order

    def below(self, bound: int) -> Any:
        """Choose a whole number below ``bound``."""
        bound = int(bound)
        if bound <= 0:
            raise ValueError(f"bound must be at least 1, got bound={bound!r}")
        return (
            self.choose([Mass.from_ratio(1, bound)] * bound)
            if bound <= _FEW
            else Dart(Uniform(self, 0, bound))
        )

    def bits(self, count: int) -> Any:
        """Choose ``count`` bits."""
        return self.below(1 << count)

    def coin(self) -> int:
        """Choose 0 or 1."""
        return self.choose([Mass.from_ratio(1, 2)] * 2)

    def word(self) -> Any:
        """Choose a word, only as far as comparisons need."""
        return Dart(Uniform(self, 0, 1 << 64))

    def words(self, count: int) -> NDArray[np.uint64]:
        """Choose raw words among the given ones."""
        if not count:
            return np.empty(0, dtype=np.uint64)
        if not self._given:
            raise LittlestoneError(
                "raw words cannot be enumerated; draw whole numbers or laws, or pass words"
            )
        each = [Mass.from_ratio(1, len(self._given))] * len(self._given)
        return np.array([self._given[self.choose(each)] for _ in range(count)], dtype=np.uint64)

    def below_many(self, bound: int, count: int) -> NDArray[np.int64]:
        """Choose many whole numbers below ``bound``."""
        return np.array([int(self.below(bound)) for _ in range(count)], dtype=np.int64)

    def permutation(self, count: int) -> Any:
        """Choose an order, only as far as it is read."""
        return Order(self, count)


class Order:
    """A random order of 0 .. count-1, decided only as far as it is read."""

    __slots__ = ("_count", "_known", "_left", "_tape")

    def __init__(self, tape: Tape, count: int) -> None:
        self._tape, self._count = tape, count
        self._known: list[int] = []
        self._left = list(range(count))

    def _first(self, count: int) -> NDArray[np.int64]:
        while len(self._known) < count:
            place = int(self._tape.below(len(self._left)))
            self._known.append(self._left.pop(place))
        return np.array(self._known[:count], dtype=np.int64)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, part: Any) -> Any:
        if isinstance(part, slice) and part.start is None and part.step is None:
            return self._first(len(range(self._count)[part]))
        return self._first(self._count)[part]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.int64]:
        del copy
        return self._first(self._count).astype(dtype or np.int64)

    def tolist(self) -> list[int]:
        """Return the whole order."""
        return [int(place) for place in self._first(self._count)]


class Unknown(ABC):
    """A random integer in [low, high), decided only as far as comparisons need."""

    __slots__ = ("high", "low", "tape")

    def __init__(self, tape: Tape, low: int, high: int | None) -> None:
        self.tape, self.low, self.high = tape, low, high

    @abstractmethod
    def under(self, steps: int) -> Mass:
        """Return the probability of being less than low + steps."""

    @abstractmethod
    def cases(self) -> Iterable[Mass]:
        """Return the probability of each value, from low on."""

    def below(self, cut: int) -> bool:
        """Decide whether the value is less than ``cut``."""
        if cut <= self.low or (self.high is not None and cut >= self.high):
            return cut > self.low
        under = self.under(cut - self.low)
        if self.tape.choose((under, under.rest())):
            self.low = cut
            return False
        self.high = cut
        return True

    def settle(self) -> int:
        """Decide the value."""
        self.low += self.tape.choose(self.cases())
        self.high = self.low + 1
        return self.low


class Dart:
    """sign * u + shift for a random integer u, decided as little as possible.

    A comparison cuts the range of u in two and chooses one part: a sampler that only compares
    makes two cases, not as many as u has values.
    """

    __slots__ = ("_shift", "_sign", "_u")

    def __init__(self, u: Unknown, *, sign: int = 1, shift: int = 0) -> None:
        self._u, self._sign, self._shift = u, sign, shift

    def __add__(self, other: int) -> "Dart":
        return Dart(self._u, sign=self._sign, shift=self._shift + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> "Dart":
        return Dart(self._u, sign=self._sign, shift=self._shift - other)

    def __rsub__(self, other: int) -> "Dart":
        return Dart(self._u, sign=-self._sign, shift=other - self._shift)

    def __mul__(self, other: Any) -> Any:
        return int(self) * other

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        if other is self:  # numpy compares before it searches
            return False
        cut = int(other) if isinstance(other, Dart) else other
        if self._sign > 0:
            return bool(self._u.below(ceil(cut - self._shift)))
        return not self._u.below(floor(self._shift - cut) + 1)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __le__(self, other: Any) -> bool:
        return other is self or bool(self < floor(other) + 1)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self <= other and not self < other

    def __hash__(self) -> int:
        return hash(int(self))

    def __repr__(self) -> str:
        return repr(int(self))

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)  # pickled as a plain number

    def __floordiv__(self, divisor: int) -> "int | Dart":
        if not isinstance(self._u, Uniform):
            return int(self) // divisor
        first, last = (end // divisor for end in self.ends())
        if last - first > _FEW:
            return Dart(Quotient(self, divisor))
        return next((q for q in range(first, last) if self < (q + 1) * divisor), last)

    def __rshift__(self, places: int) -> "int | Dart":
        return self // (1 << places)

    def __divmod__(self, divisor: int) -> "tuple[int, Dart]":
        quotient = int(self // divisor)
        return quotient, self - quotient * divisor

    def ends(self) -> tuple[int, int]:
        """Return the smallest and the largest possible value."""
        assert self._u.high is not None
        first, last = sorted(
            self._sign * end + self._shift for end in (self._u.low, self._u.high - 1)
        )
        return first, last

    def __index__(self) -> int:
        return self._sign * self._u.settle() + self._shift

    __int__ = __index__
    __floor__ = __index__
    __ceil__ = __index__

    def bit_count(self) -> int:
        """Return the number of ones among the bits."""
        assert isinstance(self._u, Uniform)
        return self._u.bit_count()


class Uniform(Unknown):
    """All values are equally likely."""

    __slots__ = ()

    high: int

    def under(self, steps: int) -> Mass:
        """Return the mass of the first ``steps`` values."""
        return Mass.from_ratio(steps, self.high - self.low)

    def cases(self) -> list[Mass]:
        """Return the mass of each value."""
        size = self.high - self.low
        if size > _MANY:
            raise LittlestoneError(f"a number with {size} possible values cannot be enumerated")
        return [Mass.from_ratio(1, size)] * size

    def bit_count(self) -> int:
        """Return the number of ones among the bits."""
        width = self.high.bit_length() - 1
        assert (self.low, self.high) == (0, 1 << width)
        return self.tape.choose(
            [Mass.from_ratio(comb(width, k), self.high) for k in range(width + 1)]
        )


class Quotient(Uniform):
    """The quotient of a dart by a number; comparisons decide no more of the dart than needed."""

    __slots__ = ("_dart", "_divisor")

    def __init__(self, dart: Dart, divisor: int) -> None:
        first, last = dart.ends()
        super().__init__(dart._u.tape, first // divisor, last // divisor + 1)
        self._dart, self._divisor = dart, divisor

    def below(self, cut: int) -> bool:
        """Decide whether the value lies below a bound."""
        smaller = self._dart < cut * self._divisor
        first, last = self._dart.ends()
        self.low, self.high = first // self._divisor, last // self._divisor + 1
        return smaller

    def settle(self) -> int:
        """Decide the value by successive comparisons; only for few values."""
        if self.high - self.low > _MANY:
            raise LittlestoneError(
                f"a quotient with {self.high - self.low} possible values cannot be enumerated"
            )
        while self.high - self.low > 1:
            self.below(self.low + 1)
        return self.low


class Memoryless(Unknown):
    """A geometric number of rate ``rate``; ``high`` is None if it is unbounded."""

    __slots__ = ("rate",)

    def __init__(self, tape: Tape, rate: Fraction, *, high: int | None = None) -> None:
        super().__init__(tape, 0, high)
        self.rate = rate

    def under(self, steps: int) -> Mass:
        share = exp_mass(self.rate * steps).rest()
        if self.high is None:
            return share
        return share.over(exp_mass(self.rate * (self.high - self.low)).rest())

    def cases(self) -> Iterable[Mass]:
        steps = count() if self.high is None else range(self.high - self.low)
        return (exp_mass(self.rate * step).times(self.under(1)) for step in steps)


class Weighted(Unknown):
    """Finitely many values, each with its own weight."""

    __slots__ = ("_sums",)

    high: int

    def __init__(self, tape: Tape, sums: Sequence[Mass]) -> None:
        """Take the ``sums`` of the weights of the first 0, 1, 2, … values."""
        super().__init__(tape, 0, len(sums) - 1)
        self._sums = sums

    def _between(self, first: int, last: int) -> Mass:
        before, until = self._sums[first], self._sums[last]
        return Mass(until.low - before.low, until.high - before.high)

    def under(self, steps: int) -> Mass:
        whole = self._between(self.low, self.high)
        return self._between(self.low, self.low + steps).over(whole)

    def cases(self) -> Iterable[Mass]:
        whole = self._between(self.low, self.high)
        return (self._between(u, u + 1).over(whole) for u in range(self.low, self.high))


@dataclass(frozen=True, slots=True)
class Law:
    """The probability of each view, and an upper bound on the mass of omitted runs."""

    views: dict[Hashable, Mass]
    missing: int
    runs: int


def law_of(
    play: Callable[[Tape], Hashable],
    *,
    rounds: int,
    negligible: int,
    most: int,
    words: Sequence[int] = (),
) -> Law:
    """Play once for each outcome of the coins and add up the masses of the views."""
    views: dict[Hashable, Mass] = {}
    path: list[Decision] = []
    runs = 0
    while path or not runs:
        runs += 1
        if runs > most:
            raise LittlestoneError(f"more than {most} runs; take a smaller instance")
        tape = Tape(path, rounds=rounds, negligible=negligible, words=words)
        try:
            view = play(tape)
            views[view] = views.get(view, NOTHING).plus(tape.mass)
        except TooLightError:
            pass
        while path and not path[-1].next():
            path.pop()
    known = sum(mass.low for mass in views.values())
    return Law(views, max(0, UNIT - known), runs)
