"""Simulated streams of nine kinds, on which the default's candidates were chosen.

Fields are numbers on a grid, more or less correlated, or categories; two or ten labels of a hundred
are wrong. Every seed is another law of its kind.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Made = tuple[NDArray[Any], NDArray[np.bool_]]


def of_kind(kind: str, rounds: int, seed: int) -> Stream:
    rng = np.random.default_rng([seed, rounds, list(KINDS).index(kind)])
    fields, shared = int(rng.choice([4, 8, 12, 20])), rng.choice([0.0, 0.5])
    causes = rng.normal(size=(rounds, 3)) @ rng.normal(size=(fields, 3)).T / np.sqrt(3)
    values = rng.normal(size=(rounds, fields)) * np.sqrt(1 - shared) + np.sqrt(shared) * causes
    wrong = rng.choice([0.02, 0.1])
    values, truth = KINDS[kind](rng, values)
    names = [f"x{place}" for place in range(fields)]
    declared = {name: _declared(rng, column) for name, column in zip(names, values.T, strict=True)}
    labels = (truth ^ (rng.random(rounds) < wrong)).astype(np.uint8)
    return Stream(kind, declared, dict(zip(names, values.T, strict=True)), labels, True)


def _declared(rng: np.random.Generator, column: Floats) -> dict[str, Any]:
    if column.dtype.kind == "i":
        return {"values": np.unique(column).tolist()}
    spread = column.std() * np.exp(0.3 * rng.normal())
    middle = column.mean() + 0.3 * rng.normal() * spread
    count = int(rng.choice([2, 4, 6]))
    return {"grid": (middle + spread * np.linspace(-1.6, 1.6, count)).tolist()}


def _above(rng: np.random.Generator, values: Floats, weights: Floats) -> Made:
    return values, values @ weights > 0.5 * rng.normal() * np.linalg.norm(weights)


def _all(rng: np.random.Generator, values: Floats) -> Made:
    weights: Floats = np.asarray(rng.normal(size=values.shape[1]))
    return _above(rng, values, weights)


def _three(rng: np.random.Generator, values: Floats) -> Made:
    weights = np.where(np.arange(values.shape[1]) < 3, rng.normal(size=values.shape[1]), 0)
    return _above(rng, values, weights)


def _cause(rng: np.random.Generator, values: Floats) -> Made:
    rounds, fields = values.shape
    hidden: Floats = np.asarray(rng.normal(size=rounds))
    shown = rng.uniform(0.2, 1.2, fields) * np.where(rng.random(fields) < 0.7, 1, -1)
    values = hidden[:, None] * shown + 0.7 * rng.normal(size=values.shape)
    return values, hidden > 0.4 * rng.normal()


def _clusters(positive: int) -> Callable[[np.random.Generator, Floats], Made]:
    def made(rng: np.random.Generator, values: Floats) -> Made:
        middles = 1.2 * rng.normal(size=(7, values.shape[1]))
        spreads = rng.uniform(0.4, 1, size=middles.shape)
        which = rng.integers(0, 7, len(values))
        values = middles[which] + spreads[which] * rng.normal(size=values.shape)
        return values, which < positive

    return made


def _tree(rng: np.random.Generator, values: Floats) -> Made:
    leaves = np.zeros(len(values), dtype=np.int64)
    for _ in range(3):
        asked = rng.integers(values.shape[1], size=8)[leaves]
        cuts = 0.5 * rng.normal(size=8)[leaves]
        leaves = 2 * leaves + (values[np.arange(len(values)), asked] > cuts)
    turned = rng.integers(0, 2, size=4)
    return values, (leaves % 2 ^ turned[leaves // 2]) == 1


def _differ(rng: np.random.Generator, values: Floats) -> Made:
    del rng
    return values, (values[:, 0] > 0.2) ^ (values[:, 1] > -0.2)


def _ring(rng: np.random.Generator, values: Floats) -> Made:
    del rng
    return values, (values[:, :2] ** 2).sum(axis=1) > 1.6 * values[:, :2].var()


def _categories(rng: np.random.Generator, values: Floats) -> Made:
    counts = [int(rng.integers(2, 6)) for _ in range(values.shape[1])]
    cells = np.stack([rng.integers(0, count, len(values)) for count in counts], axis=1)
    weights = [rng.normal(size=count) for count in counts]
    score = np.sum([each[column] for each, column in zip(weights, cells.T, strict=True)], axis=0)
    limit = np.quantile(score, rng.uniform(0.3, 0.7))
    return cells, score + 0.5 * rng.normal(size=len(values)) > limit


KINDS: dict[str, Callable[[np.random.Generator, Floats], Made]] = {
    "all fields add up": _all,
    "one hidden cause": _cause,
    "three fields add up": _three,
    "three clusters of seven": _clusters(3),
    "one cluster of seven": _clusters(1),
    "a tree": _tree,
    "two fields differ": _differ,
    "a ring": _ring,
    "categories add up": _categories,
}
