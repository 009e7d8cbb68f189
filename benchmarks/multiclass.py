"""More than two labels: the default learner beside DP-FTRL with a softmax, and a Hoeffding tree.

Ours is the default learner of a ``Request``, nothing tuned. DP-FTRL has its batches and its rate
picked in hindsight. Simulated streams, on which the number of linear rules was looked at, stand
beside the two real ones, which were looked at when it was fixed.

    python -m benchmarks multiclass
    RUNS=5 python -m benchmarks multiclass
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.practice.comparing import DELTA, Row
from benchmarks.practice.ours import wrong_rounds
from benchmarks.practice.private_linear import (
    BATCHES,
    RATES,
    Floats,
    gaussian_scale,
    toeplitz_noise,
)
from benchmarks.practice.real_streams import segment_grid
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray
from river import datasets, tree
from sklearn.datasets import load_digits

from littlestone.choose.request import Request

EPSILONS = (1.0, 0.1)
RUNS = int(os.environ.get("RUNS", "20"))
SIMULATED = ("clusters", "two clusters each", "scores", "a tree", "ordered")


@dataclass(frozen=True)
class Labelled:
    """A stream, and the names of its labels."""

    stream: Stream
    names: tuple[Any, ...]

    def shuffled(self, seed: int) -> Stream:
        return self.stream.shuffled(seed)

    @property
    def declared(self) -> dict[str, Any]:
        return {**self.stream.declared, "label": {"values": list(self.names)}}


def _segments() -> Labelled:
    rows = list(datasets.ImageSegments())
    names = tuple(sorted({y for _, y in rows}))
    columns = {key: np.array([x[key] for x, _ in rows]) for key in rows[0][0]}
    declared = {key: {"grid": segment_grid(key)} for key in columns}
    labels = np.array([names.index(y) for _, y in rows], dtype=np.uint8)
    return Labelled(Stream("segments", declared, columns, labels, False), names)


def _digits() -> Labelled:
    data = load_digits()
    columns = {f"p{i}": data.data[:, i] for i in range(64)}
    declared = {key: {"grid": [4, 8, 12]} for key in columns}
    labels = data.target.astype(np.uint8)
    return Labelled(Stream("digits", declared, columns, labels, False), tuple(range(10)))


def simulated(kind: str, rounds: int, count: int, seed: int) -> Labelled:
    """A stream of a kind; every seed is another law of it."""
    rng = np.random.default_rng([seed, rounds, count, SIMULATED.index(kind)])
    fields, wrong = int(rng.choice([4, 8, 16, 32])), rng.choice([0.02, 0.1])
    values, truth = _made(kind, rng, rng.normal(size=(rounds, fields)), count)
    labels = np.where(rng.random(rounds) < wrong, rng.integers(0, count, rounds), truth)
    names = [f"x{place}" for place in range(fields)]
    declared = {}
    for name, column in zip(names, values.T, strict=True):
        spread = column.std() * np.exp(0.3 * rng.normal())
        middle = column.mean() + 0.3 * rng.normal() * spread
        declared[name] = {"grid": (middle + spread * np.linspace(-1.6, 1.6, 12)).tolist()}
    columns = dict(zip(names, values.T, strict=True))
    stream = Stream(kind, declared, columns, labels.astype(np.uint8), True)
    return Labelled(stream, tuple(f"c{label}" for label in range(count)))


def _made(
    kind: str, rng: np.random.Generator, values: Floats, count: int
) -> tuple[Floats, NDArray[np.int64]]:
    rounds, fields = values.shape
    if "clusters" in kind:
        clusters = count * (2 if kind.startswith("two") else 1)
        which = rng.integers(0, clusters, rounds)
        middles = 1.2 * rng.normal(size=(clusters, fields))
        spreads = rng.uniform(0.4, 1, size=middles.shape)
        return middles[which] + spreads[which] * values, np.asarray(which % count)
    if kind == "scores":
        scores: Floats = values @ rng.normal(size=(fields, count)) + 0.5 * rng.normal(size=count)
        return values, np.asarray(scores.argmax(axis=1))
    if kind == "ordered":
        weights = np.where(np.arange(fields) < 3, rng.normal(size=fields), 0)
        score = values @ weights + 0.3 * rng.normal(size=rounds)
        cuts = np.quantile(score, np.cumsum(rng.dirichlet(np.full(count, 3.0)))[:-1])
        return values, np.searchsorted(cuts, score)
    depth, leaf = math.ceil(math.log2(count)) + 1, np.zeros(rounds, dtype=np.int64)
    for _ in range(depth):
        asked = rng.integers(fields, size=1 << depth)[leaf]
        cuts = 0.5 * rng.normal(size=1 << depth)[leaf]
        leaf = 2 * leaf + (values[np.arange(rounds), asked] > cuts)
    return values, rng.integers(0, count, 1 << depth)[leaf]


def softmax_rounds(
    stream: Stream, labels: int, *, scale: float, batches: int, rate: float, seed: int
) -> NDArray[np.bool_]:
    """In which rounds DP-FTRL erred: a softmax on noisy sums of clipped gradients."""
    features, known = stream.features(), stream.labels
    size = math.ceil(len(known) / batches)
    batches = math.ceil(len(known) / size)
    shape = (labels, features.shape[1])
    # Replacing one example moves a sum of clipped gradients by up to 2.
    added = toeplitz_noise(batches, math.prod(shape), 2 * scale, np.random.default_rng(seed))
    weights, total = np.zeros(shape), np.zeros(shape)
    lengths = np.linalg.norm(features, axis=1)
    wrong = np.empty(len(known), dtype=np.bool_)
    for batch in range(batches):
        rows = slice(batch * size, (batch + 1) * size)
        scores = features[rows] @ weights.T
        wrong[rows] = scores.argmax(axis=1) != known[rows]
        slopes = np.exp(scores - scores.max(axis=1, keepdims=True))
        slopes /= slopes.sum(axis=1, keepdims=True)
        slopes[np.arange(len(slopes)), known[rows]] -= 1
        clip = np.maximum(1, np.linalg.norm(slopes, axis=1) * lengths[rows])
        total += (slopes / clip[:, None]).T @ features[rows]
        weights = -rate * (total + added[batch].reshape(shape))
    return wrong


def _ftrl(data: Labelled, epsilon: float, runs: int) -> tuple[float, str]:
    """The least mean error of all settings, and the setting."""
    scale, found = gaussian_scale(epsilon, DELTA), list[tuple[float, str]]()
    orders = [data.shuffled(seed) for seed in range(runs)]
    for batches in BATCHES:
        for rate in (0.0003, 0.001, *RATES):
            errors = [
                softmax_rounds(
                    order, len(data.names), scale=scale, batches=batches, rate=rate, seed=seed
                ).mean()
                for seed, order in enumerate(orders)
            ]
            found.append((float(np.mean(errors)), f"{batches} batches, rate {rate:g}"))
    return min(found)


def _ours(data: Labelled, epsilon: float, runs: int) -> list[float]:
    asked = Request(over=data.declared, rounds=len(data.stream.labels), epsilon=epsilon)
    learner = asked.recipe()
    return [float(wrong_rounds(learner, data.shuffled(s), s).mean()) for s in range(runs)]


def _hoeffding(data: Labelled) -> float:
    model, wrong, order = tree.HoeffdingTreeClassifier(), 0, data.shuffled(0)
    rows = zip(*(column.tolist() for column in order.columns.values()), strict=True)
    for row, label in zip(rows, order.labels.tolist(), strict=True):
        x: dict[Any, Any] = dict(zip(order.columns, row, strict=True))
        wrong += model.predict_one(x) != label
        model.learn_one(x, label)
    return wrong / len(order.labels)


REAL: Mapping[str, Callable[[], Labelled]] = {"segments": _segments, "digits": _digits}


def measure() -> Iterator[Row]:
    """Yield the real streams at both budgets, then the simulated ones at ε = 1."""
    for name, made in REAL.items():
        data = made()
        counts = np.bincount(data.stream.labels)
        yield f"{name}: constant", f"{1 - counts.max() / counts.sum():.4f}", "", None
        yield f"{name}: River HoeffdingTree, not private", f"{_hoeffding(data):.4f}", "", None
        for epsilon in EPSILONS:
            peer, setting = _ftrl(data, epsilon, min(RUNS, 10))
            errors = _ours(data, epsilon, RUNS)
            what = f"{name}, ε = {epsilon:g}"
            yield f"{what}: DP-FTRL softmax, in hindsight", f"{peer:.4f} ({setting})", "", None
            mean, spread = float(np.mean(errors)), float(np.std(errors, ddof=1))
            goal = (f"< {peer:.4f}", mean < peer) if epsilon == 1.0 else ("", None)
            yield f"{what}: the default", f"{mean:.4f} ± {spread:.4f}", *goal
    for kind in SIMULATED:
        streams = [simulated(kind, 2000, count, seed) for count in (3, 6) for seed in range(4)]
        ours = np.mean([_ours(data, 1.0, 1)[0] for data in streams])
        peers = np.mean([_ftrl(data, 1.0, 2)[0] for data in streams])
        told = f"{ours:.4f} beside {peers:.4f} of DP-FTRL"
        yield f"simulated, 2,000 rounds, {kind}, ε = 1: the default", told, "", None
