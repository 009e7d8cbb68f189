"""Sanitizers of the points on which predictors and concepts disagree, for every interval length."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import FewOnes, OnALine, ProperlyOptimal
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import ConceptClass, OnlineClass, Point
from littlestone.game.protocols import OnlineLearner, OnlineState
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramRelease, HistogramSanitizer
from littlestone.learners.sanitizers.interval_sanitizer import Family, IntervalSanitizer
from littlestone.learners.sanitizers.protocols import Sanitized, Sanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import (
    RealizableRelease,
    RealizableSanitizer,
)
from littlestone.learners.sanitizers.tree_sanitizer import CumulativeRelease, TreeSanitizer
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals, Interval
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness

_MOST_STATES: Final = 1 << 12
_LARGEST_MATRIX: Final = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramFamily:
    """Histograms of the keys at equal shares of (epsilon, delta)."""

    concepts: ConceptClass
    epsilon: float
    delta: float

    def __call__(self, size: int, parts: int) -> HistogramSanitizer:
        del size
        return _histogram(self, parts)


@lru_cache(maxsize=1024)
def _histogram(family: HistogramFamily, parts: int) -> HistogramSanitizer:
    """Return one value for all lengths; planning asks for each of them many times."""
    return HistogramSanitizer(
        concepts=family.concepts,
        epsilon=float_at_most(Fraction(family.epsilon) / parts),
        delta=float_at_most(Fraction(family.delta) / parts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFamily:
    """Noisy trees over a range of integers at equal shares of epsilon; no delta is needed."""

    concepts: ConceptClass
    epsilon: float

    def __call__(self, size: int, parts: int) -> TreeSanitizer:
        del size
        return _tree(self, parts)


@lru_cache(maxsize=1024)
def _tree(family: TreeFamily, parts: int) -> TreeSanitizer:
    return TreeSanitizer(
        concepts=family.concepts, epsilon=float_at_most(Fraction(family.epsilon) / parts)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RealizableFamily:
    """The paper's realizable sanitizers, each planned for its length."""

    concepts: ConceptClass
    epsilon: float
    delta: float
    failure_probability: float
    """Of each release; bounds with a smaller probability promise nothing."""

    def __call__(self, size: int, parts: int) -> RealizableSanitizer:
        return _planned(self, size, parts)


@lru_cache(maxsize=1024)
def _planned(family: RealizableFamily, size: int, parts: int) -> RealizableSanitizer:
    return RealizableSanitizer.planned(
        concepts=family.concepts,
        size=size,
        budget=_split(family.epsilon, family.delta).divided(parts),
        failure_probability=family.failure_probability,
    )


@lru_cache(maxsize=64)
def _split(epsilon: float, delta: float) -> MixedBudget:
    return MixedBudget.split(epsilon=epsilon, delta=delta)


def conversion_delta(family: Family) -> float:
    """Return the delta at which a family's concentrated costs are converted; 0 if it has none."""
    return family.delta if isinstance(family, RealizableFamily) else 0.0


def family_named(
    name: str,
    base: OnlineLearner,
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    failure_probability: float,
) -> Family:
    """Return the family of this name for the errors of ``base``.

    ``auto`` takes the family that would miss least in a single release about all rounds.
    """
    # There are fewer than 2T releases, whichever intervals the plan takes.
    each = failure_probability / (2 * rounds)

    def named(name: str) -> Family:
        return _family(name, base, epsilon, delta, each)

    if name != "auto":
        return named(name)
    if isinstance(base.concepts, FewOnes):
        return named("histogram")
    if isinstance(error_class(base), OnALine):
        return named("tree")

    def missed(family: Family) -> float:
        return detection_bound(family(rounds, 1), size=rounds, failure_probability=each)

    return min(named("histogram"), named("realizable"), key=missed)


def _family(
    name: str, base: OnlineLearner, epsilon: float, delta: float, failure_probability: float
) -> Family:
    errors = error_class(base, histogram=name == "histogram")
    if name == "histogram" and isinstance(errors, FewOnes):
        return HistogramFamily(concepts=errors, epsilon=epsilon, delta=delta)
    if name == "tree" and isinstance(errors, OnALine):
        return TreeFamily(concepts=errors, epsilon=epsilon)
    if name == "realizable":
        return RealizableFamily(
            concepts=errors, epsilon=epsilon, delta=delta, failure_probability=failure_probability
        )
    raise ValueError(
        f"sanitizer must be 'auto', 'histogram', 'realizable', 'tree' (for thresholds) or a "
        f"function of (size, parts), got sanitizer={name!r} for {base!r}"
    )


def error_class(base: OnlineLearner, *, histogram: bool = False) -> ConceptClass:
    """Return a class that holds A(S) ⊕ h for all predictors A(S) of ``base`` and all concepts h.

    The paper's H_{m,1/2} ⊕ H, or a subset. With ``histogram`` any set of points will do.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> error_class(SparseMajority(Thresholds(100)))
    Intervals(n=100)
    >>> error_class(SparseMajority(SparseSets(3)))
    SparseSets(k=6, n=None)
    """
    concepts = base.concepts
    # Both publish the standard optimal predictor, which is always a concept here.
    if isinstance(base, SparseMajority | StandardOptimal) and isinstance(concepts, ProperlyOptimal):
        errors = concepts.differences()
        if not histogram or isinstance(errors, FewOnes):
            return errors
    points = _points_to_list(concepts)
    if histogram:
        return SparseSets(points, points)
    recipe: Any = base  # hashable, which the protocol does not say
    return _listed_errors(recipe, points)


def _points_to_list(concepts: OnlineClass) -> int:
    points = concepts.domain.size
    if points is None or not isinstance(concepts.domain, IntegerRange):
        raise ValueError(
            f"sanitizer must be given for {concepts!r}: what predictors and concepts differ on is "
            f"not known in closed form, and the points are not a short range of integers"
        )
    return points


def refuse_unknown_errors(concepts: ConceptClass) -> None:
    """Raise what ``error_class`` would raise, before looking for predictors."""
    if not isinstance(concepts, ProperlyOptimal | FewOnes):
        most = _most_predictors(concepts, _points_to_list(concepts))
        _refuse_predictors(concepts, concepts.size or 0, most)


def _most_predictors(concepts: ConceptClass, points: int) -> int:
    return _LARGEST_MATRIX // max(1, (concepts.size or 0) * points)


def _refuse_predictors(concepts: ConceptClass, known: int, most: int) -> None:
    """Raise if there are too many: each concept is a predictor, as mistakes end only there."""
    if known > most:
        raise ValueError(
            f"sanitizer must be given for {concepts!r}: more than {most} predictors are too many "
            f"to be told apart from all concepts"
        )


@lru_cache(maxsize=64)
def _listed_errors(base: Any, points: int) -> FiniteClass:
    """Return the differences of every reachable predictor and every concept."""
    block, most = np.arange(points), _most_predictors(base.concepts, points)
    met: dict[bytes, NDArray[np.uint8]] = {}
    for state in reachable(base, points):
        labels = np.asarray(state.hypothesis.many(block), dtype=np.uint8)
        met[labels.tobytes()] = labels
        _refuse_predictors(base.concepts, len(met), most)
    predictors = np.array([met[key] for key in sorted(met)])
    concepts = FiniteClass.from_class(base.concepts).matrix
    return FiniteClass((predictors[:, None, :] != concepts[None]).reshape(-1, points))


def reachable(base: OnlineLearner, points: int) -> Iterator[OnlineState]:
    """Yield the states that ``base`` reaches by mistakes on 0 .. points-1 without contradiction."""
    found: dict[OnlineState, None] = {base.start(): None}
    newest = list(found)
    yield from newest
    while newest:
        older, newest = newest, []
        for state in (s.after(x, 1 - s.hypothesis(x)) for s in older for x in range(points)):
            if state.failed or state in found:
                continue
            if len(found) == _MOST_STATES:
                raise ValueError(
                    f"sanitizer must be given: {base!r} has more than {_MOST_STATES} states"
                )
            found[state] = None
            newest.append(state)
            yield state


def detection_bound(sanitizer: Sanitizer, *, size: int, failure_probability: float) -> float:
    """Bound the examples that a set can hold without containing a synthetic point."""
    error = sanitizer.error_bound(size=size, failure_probability=failure_probability)
    if error >= 1:
        return float(size)
    if isinstance(sanitizer, TreeSanitizer):
        # Quantiles: an interval that holds more than one quantile's mass contains one.
        return min(float(size), size * (error + 1 / tree_points(sanitizer, size)))
    return size * error


def tree_points(sanitizer: TreeSanitizer, size: int) -> int:
    """Return how many quantiles of a released curve to use: about one per unresolved stretch."""
    error = sanitizer.error_bound(size=size, failure_probability=0.05)
    return max(2, math.ceil(1 / error))


def synthetic_points(sanitizer: Sanitizer, released: Sanitized, size: int) -> Sequence[Point]:
    """Return a few points that meet every set which the release says may hold often; public."""
    if isinstance(released, RealizableRelease):
        return released.hitting_set
    if isinstance(released, HistogramRelease):
        return list(released.counts)
    if isinstance(released, CumulativeRelease) and isinstance(sanitizer, TreeSanitizer):
        return list(dict.fromkeys(released.dataset(tree_points(sanitizer, size))))
    support: list[Any] = list(released.distribution())
    return support


@dataclass(init=False, eq=False, repr=False)
class IntervalPoints:
    """Run [P, Algorithm 5], keeping only the synthetic points of each release.

    Unlike ``IntervalSanitizerRun``, which keeps the releases, it can be saved.
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
        """Return the synthetic points of rounds ``first`` to ``last`` once, in a public order."""
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
