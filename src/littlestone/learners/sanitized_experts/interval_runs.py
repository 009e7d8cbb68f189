"""The points of the stream, sanitized on all dyadic intervals: what experts may be told."""

from dataclasses import dataclass

from littlestone.concepts.protocols import Point
from littlestone.learners.sanitized_experts.families import synthetic_points
from littlestone.mechanisms.binary_mechanism import DyadicIntervals, Interval
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.sanitizers.stream.interval_sanitizer import IntervalSanitizer


@dataclass(init=False, eq=False, repr=False)
class IntervalPoints:
    """[P, Algorithm 5], keeping of each release nothing but its synthetic points.

    Like ``IntervalSanitizerRun``, which keeps the releases; this one can be saved.
    """

    _recent: list[Point]
    _first: int
    """The round of the oldest point kept."""
    _round: int
    _points: dict[Interval, tuple[Point, ...]]

    def __init__(self, recipe: IntervalSanitizer, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._most = recipe.domain.size or recipe.rounds
        self._dyadic = DyadicIntervals(rounds=recipe.rounds)
        self._longest = max(recipe.lengths, default=0)
        self._recent, self._first, self._round, self._points = [], 1, 0, {}
        self._joined: dict[Interval, tuple[Point, ...]] = {}

    def observe(self, x: Point, ledger: Ledger | None = None) -> None:
        """Take the next point; release the intervals that it ends, charged to ``ledger``."""
        self._round += 1
        if not self._longest:
            return
        self._recent.append(x)
        if self._round % self._recipe.shortest:
            return
        for interval in self._dyadic.closing_at(self._round):
            size = interval[1] - interval[0] + 1
            if size >= self._recipe.shortest:
                self._release(interval, size, ledger)
        if self._round % self._longest == 0:
            self._recent, self._first = [], self._round + 1

    def points(self, first: int, last: int) -> tuple[Point, ...]:
        """The synthetic points of rounds ``first`` to ``last``, each once, in a public order."""
        known = self._joined.get((first, last))
        if known is None:
            pieces = self._dyadic.decompose(first, last)
            listed = dict.fromkeys(x for piece in pieces for x in self._points.get(piece, ()))
            known = self._joined[first, last] = tuple(listed)[: self._most]
        return known

    def _release(self, interval: Interval, size: int, ledger: Ledger | None) -> None:
        sanitizer = self._recipe.sanitizers[size]
        if ledger is not None:
            name, (first, last) = type(sanitizer).__name__, interval
            for cost in sanitizer.costs():
                ledger.charge(name, cost, first=first, last=last)
        examples = self._recent[interval[0] - self._first : interval[1] - self._first + 1]
        released = sanitizer.release(examples, rng=self._rng)
        self._points[interval] = tuple(synthetic_points(sanitizer, released, size))
        self._joined.clear()
