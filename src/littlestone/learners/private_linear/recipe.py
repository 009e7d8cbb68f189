"""Publish a private linear rule, for records whose fields add up."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.private_linear.features import Features, Floats
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums, CorrelatedSumsRun
from littlestone.privacy.mechanisms.noise.geometric import CubeNoise
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

MOST_PURE: Final = 20
"""The most weights for which noise that is uniform in cubes is less than Gaussian noise."""
# Examples of the first and of the longest batch, in units of 1/epsilon, and at least.
_FIRST, _LEAST_FIRST, _GROWTH = 16, 16, 1.5
_LONGEST, _LEAST_LONGEST = 128, 64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateLinear(PrivateLearner):
    """Publish a linear rule, learned by logistic regression on noisy sums of gradients.

    Batches are disjoint, and the sum of the gradients of each is released once. The weights follow
    a Kalman filter: a step is long where a weight is uncertain and noise is small. Weights may
    drift, so the rule follows a change of the law. There is nothing to tune and no horizon.
    Up to 20 weights (one for each number, one for each value of a category, and a constant) noise
    is uniform in cubes and the promise pure; above, noise is Gaussian and costs ``delta``. Numbers
    are scaled by their declared range, so nothing is read from the data.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0) up to 20 weights, else (epsilon, delta), conditionally on every
                    prefix; per user (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round that ends a batch takes longer
        Proof:      recipe.md

    Regret: nothing is proved; ``regret_bound`` is the number of rounds. docs/practice.md has
    measurements.

    >>> from littlestone.concepts.classes.stumps import Stumps
    >>> from littlestone.concepts.schema import Schema
    >>> rules = Stumps(Schema.from_mapping({"delay": {"range": [0, 60]}}), 1)
    >>> learner = PrivateLinear(concepts=rules, epsilon=1.0)
    >>> learner.guarantee(), [learner.batch_size(number) for number in (0, 1, 9)]
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), [16, 24, 128])
    """

    concepts: ConceptClass
    epsilon: float
    delta: float = 1e-6
    rounds: int | None = None
    max_contributions: int = 1
    features: Features = field(init=False, repr=False, compare=False)
    cube: CubeNoise | None = field(init=False, repr=False, compare=False)
    """The mechanism for at most 20 weights."""
    sums: CorrelatedSums | None = field(init=False, repr=False, compare=False)
    """The mechanism for more weights."""

    form_version: ClassVar[int] = 2
    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(epsilon=self.epsilon)
        require.integer(max_contributions=self.max_contributions, at_least=1)
        if self.rounds is not None:
            require.integer(rounds=self.rounds, at_least=1)
        features = Features.from_domain(self.concepts.domain)
        width = features.width
        pure = width <= MOST_PURE
        (require.probability if pure else require.open_probability)(delta=self.delta)
        try:
            # A replaced gradient moves each part by at most GRID.
            rate = Fraction(float_at_most(self.epsilon)) / GRID
            cube = CubeNoise(rate=rate, width=width) if pure else None
            sums = None if pure else self._gaussian(width)
        except ValueError as problem:  # about a rate or rho, which are not parameters here
            raise ValueError(
                f"epsilon={self.epsilon!r} at delta={self.delta!r} needs more noise than "
                f"can be represented; increase one of them"
            ) from problem
        require.settle(self, features=features, cube=cube, sums=sums)

    def _gaussian(self, width: int) -> CorrelatedSums:
        # |round(GRID * g)| <= GRID + sqrt(width) / 2 for |g| <= 1, squared and rounded up.
        longest = GRID * GRID + math.isqrt(GRID * GRID * width) + width // 4 + 2
        rho = ZeroConcentrated.largest(epsilon=self.epsilon, delta=self.delta).rho
        return CorrelatedSums(releases=1, width=width, longest_squared=longest, rho=rho)

    def batch_size(self, number: int) -> int:
        """Return the number of examples of batch 0, 1, …"""
        first = max(_FIRST / self.epsilon, _LEAST_FIRST)
        longest = max(_LONGEST / self.epsilon, _LEAST_LONGEST)
        return math.ceil(min(first * _GROWTH ** min(number, 100), longest))

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise in each part of a released gradient."""
        if self.sums is not None:
            return (self.sums.deviation() / GRID) ** 2
        width = self.features.width
        return (width + 1) * (width + 2) / 3 / self.epsilon**2

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Return the guarantee for one example."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=0.0 if self.cube else self.delta)

    @property
    def concentrated(self) -> ZeroConcentrated | None:
        """Return the guarantee in zero-concentrated form; None if noise is uniform in cubes."""
        return None if self.sums is None else ZeroConcentrated(rho=self.sums.rho)

    def engine(self, rng: Randomness, /) -> "PrivateLinearEngine":
        return PrivateLinearEngine(self, rng)


GRID: Final = 1 << 12
"""Gradients are rounded to multiples of 1/GRID."""
LARGEST: Final = GRID // 2
"""The largest part of a gradient where noise is uniform in cubes: 1/2."""
_STEEPEST: Final = 30.0
# Parameters of a Kalman filter: what one example tells about a weight (the mean curvature of the
# loss), how much gradients differ, how uncertain weights are at first, and how they drift per
# round.
_CURVATURE, _SPREAD, _PRIOR, _DRIFT = 0.09, 0.1, 1.0, 1e-4
_LEAST_VARIANCE: Final = 1e-9


@dataclass(init=False, eq=False, repr=False)
class PrivateLinearEngine(Engine):
    """The examples of the current batch are secret; the weights follow from the releases."""

    ledger: Ledger
    hypothesis: Hypothesis
    _batches: int
    _in_batch: int
    _points: list[Any]
    _labels: list[Label]
    _weights: list[float]
    _variances: list[float]

    def __init__(self, recipe: "PrivateLinear", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng

    def begin(self) -> None:
        """Start with zero weights and an empty batch."""
        recipe = self._recipe
        # An example is in one batch, and its sum is released once.
        if recipe.cube is None:
            assert recipe.sums is not None
            rho = ZeroConcentrated(rho=recipe.sums.rho)
            self.ledger = Ledger(
                budget=recipe.per_example,
                private=self._rng.private,
                concentrated=rho,
                concentrated_delta=recipe.delta,
            )
            self.ledger.charge("sums of disjoint batches", rho, first=1)
        else:
            self.ledger = Ledger(budget=recipe.per_example, private=self._rng.private)
            self.ledger.charge("sums of disjoint batches", recipe.per_example, first=1)
        width = recipe.features.width
        self._batches = self._in_batch = 0
        self._points, self._labels = [], []
        self._weights, self._variances = [0.0] * width, [_PRIOR] * width
        self.hypothesis = recipe.features.rule(np.zeros(width))  # (L1)

    def step(self, x: Any, y: Label, /) -> None:
        """Add an example to the batch, and release its sum when it is full."""
        self._points.append(x)
        self._labels.append(y)
        self._count_round()

    def idle(self, x: Any, /) -> None:
        del x
        self._count_round()

    def _count_round(self) -> None:
        self._in_batch += 1
        if self._in_batch == self._recipe.batch_size(self._batches):
            self._release()

    def _release(self) -> None:
        recipe, width = self._recipe, self._recipe.features.width
        total = [0] * width
        if self._points:
            rows, labels = recipe.features.rows(self._points), np.array(self._labels)
            total = self.summands(rows, labels).sum(axis=0).tolist()  # (L2, L3)
        if recipe.cube is None:
            assert recipe.sums is not None
            once = CorrelatedSumsRun(recipe.sums, self._rng)
            once.begin()
            released = once.release(tuple(total))  # (L4)
            self._follow(recipe.sums.prefix_sum([released]) / GRID)
        else:
            noise = recipe.cube.draw(self._rng)
            noisy = [part + more for part, more in zip(total, noise, strict=True)]  # (L4)
            self._follow(np.array(noisy, dtype=np.float64) / GRID)
        self._points, self._labels, self._in_batch = [], [], 0
        self._batches += 1
        newest = recipe.features.rule(np.array(self._weights))
        if newest != self.hypothesis:
            self.hypothesis = newest

    def summands(self, rows: Floats, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what each example adds to the sum of its batch, as integers."""
        longest = None if self._recipe.sums is None else self._recipe.sums.longest_squared
        return gradients(rows, labels, np.array(self._weights), longest)

    def _follow(self, gradient: Floats) -> None:
        """Update the weights from what was released, and nothing else."""  # (L5)
        size, noise = self._in_batch, self._recipe.noise_variance
        variances = np.array(self._variances)
        information = _CURVATURE * size
        hidden = variances * information**2 * math.sqrt(len(variances)) + noise + _SPREAD * size
        gains = variances * information / hidden
        self._weights = (np.array(self._weights) - gains * gradient).tolist()
        left = np.maximum(variances - gains * information * variances, _LEAST_VARIANCE)
        self._variances = (left + _DRIFT * size).tolist()


def gradients(
    rows: Floats, labels: NDArray[np.int64], weights: Floats, longest_squared: int | None
) -> NDArray[np.int64]:
    """Return the clipped gradient of the logistic loss at each example, in multiples of 1/GRID.

    Every part is clipped to [-1/2, 1/2], or, with ``longest_squared``, the length to 1. A row
    depends on its own example and on the weights, to the last bit: sums are added term by term, and
    everything else is elementwise, whatever other rows there are. Whatever the rounding, its parts
    are at most LARGEST, or its squared length at most ``longest_squared``: this is checked on
    integers.
    """
    with np.errstate(all="ignore"):  # a warning would reveal data
        scores = np.clip(_dots(rows, weights), -_STEEPEST, _STEEPEST)
    slopes = 1 / (1 + np.array([math.exp(-score) for score in scores.tolist()])) - labels
    if longest_squared is None:
        clipped = np.clip(rows * slopes[:, None], -0.5, 0.5)
    else:
        lengths = np.abs(slopes) * np.sqrt(_dots(rows, rows))
        clipped = rows * (slopes / np.maximum(1, lengths))[:, None]
    clipped[~(np.abs(clipped) <= 1).all(axis=1)] = 0  # for example NaN
    whole: NDArray[np.int64] = np.rint(GRID * clipped).astype(np.int64)
    if longest_squared is None:
        whole[(np.abs(whole) > LARGEST).any(axis=1)] = 0
    else:
        whole[(whole * whole).sum(axis=1) > longest_squared] = 0
    return whole


def _dots(rows: Floats, others: Floats) -> Floats:
    """Return the dot product of each row with the other one, added from first to last term.

    BLAS adds in an order that depends on the number of rows.
    """
    return np.add.accumulate(rows * others, axis=1)[:, -1]
