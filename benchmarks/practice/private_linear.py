"""What a user would pick instead: private logistic regression with Gaussian noise, in floats.

The usual baselines, for comparison only: their floating-point noise leaks, and their batch size
and rate are picked in hindsight, in their favour.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

Floats = NDArray[np.float64]
BATCHES = (16, 64, 256, 1024)
RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def gaussian_scale(epsilon: float, delta: float) -> float:
    """The noise for sensitivity 1, exactly [BW18]."""

    def excess(scale: float) -> float:
        shift = epsilon * scale
        return float(
            norm.cdf(0.5 / scale - shift)
            - math.exp(epsilon) * norm.cdf(-0.5 / scale - shift)
            - delta
        )

    return float(brentq(excess, 1e-2, 1e4))


def toeplitz_noise(batches: int, width: int, scale: float, rng: np.random.Generator) -> Floats:
    """Noise of every prefix sum under the square-root factorisation [FHU23]."""
    column = np.cumprod([1.0, *((2 * i - 1) / (2 * i) for i in range(1, batches))])
    drawn = rng.normal(size=(batches, width)) * scale * np.sqrt((column**2).sum())
    padded = 2 * batches
    product = np.fft.rfft(column, padded)[:, None] * np.fft.rfft(drawn, padded, axis=0)
    return np.asarray(np.fft.irfft(product, padded, axis=0)[:batches])


def tree_noise(batches: int, width: int, scale: float, rng: np.random.Generator) -> Floats:
    """Noise of every prefix sum under the binary mechanism."""
    levels = batches.bit_length()
    total, number = np.zeros((batches, width)), np.arange(1, batches + 1)
    for level in range(levels):
        nodes = rng.normal(size=((batches >> level) + 1, width)) * scale * math.sqrt(levels)
        used = (number >> level) & 1 == 1
        total[used] += nodes[(number[used] >> level) - 1]
    return total


def independent_noise(batches: int, width: int, scale: float, rng: np.random.Generator) -> Floats:
    """DP-SGD on disjoint batches: each gradient has its own noise."""
    return np.cumsum(rng.normal(size=(batches, width)) * scale, axis=0)


NOISES: dict[str, Callable[[int, int, float, np.random.Generator], Floats]] = {
    "DP-FTRL, tree": tree_noise,
    "DP-FTRL, Toeplitz": toeplitz_noise,
    "DP-SGD": independent_noise,
}


def wrong_rounds(
    features: Floats,
    labels: NDArray[np.uint8],
    noise: Callable[[int, int, float, np.random.Generator], Floats],
    *,
    scale: float,
    batches: int,
    rate: float,
    seed: int,
) -> NDArray[np.bool_]:
    """Of follow-the-regularised-leader on noisy sums of clipped gradients, batch by batch."""
    size = math.ceil(len(labels) / batches)
    batches = math.ceil(len(labels) / size)
    # Replacing one example moves a sum of clipped gradients by up to 2.
    added = noise(batches, features.shape[1], 2 * scale, np.random.default_rng(seed))
    weights, total = np.zeros(features.shape[1]), np.zeros(features.shape[1])
    wrong = np.empty(len(labels), dtype=np.bool_)
    for batch in range(batches):
        rows = slice(batch * size, (batch + 1) * size)
        score = features[rows] @ weights
        wrong[rows] = (score > 0) != labels[rows]
        slope = 1 / (1 + np.exp(-np.clip(score, -30, 30))) - labels[rows]
        length = np.abs(slope) * np.linalg.norm(features[rows], axis=1)
        total += (slope / np.maximum(1, length)) @ features[rows]
        weights = -rate * (total + added[batch])
    return wrong


def settings() -> Iterator[tuple[int, float]]:
    """All batch sizes and rates that hindsight may pick from."""
    return ((batches, rate) for batches in BATCHES for rate in RATES)
