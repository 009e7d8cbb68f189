"""Simulated streams: where a linear rule beats private trees.

Fields are numbers on a grid, more or less correlated; labels follow many fields at once, a few, a
tree, a bump (far from the middle in two fields), or one rule and later another one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from littlestone.choose.auto import class_over
from littlestone.choose.request import Request
from littlestone.concepts.schema import Schema
from littlestone.learners.private_linear.recipe import PrivateLinear
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]
Floats = NDArray[np.float64]

EPSILON, DELTA = 1.0, 1e-6
ROUNDS = (600, 2_000, 8_000)
FIELDS = (8, 16)


@dataclass(frozen=True)
class Simulated:
    kind: str
    schema: Schema
    columns: dict[str, Floats]
    labels: NDArray[np.uint8]


def measure() -> Iterator[Row]:
    for kind, rounds in product(KINDS, ROUNDS):
        streams = [simulated(kind, rounds, fields, 0) for fields in FIELDS]
        linear = fmean(error(_linear(stream), stream) for stream in streams)
        trees = fmean(error(_trees(stream), stream) for stream in streams)
        share = fmean(min(s.labels.mean(), 1 - s.labels.mean()) for s in streams)
        told = f"linear {linear:.3f}, the default {trees:.3f} (constant {share:.3f})"
        yield f"{kind}, {rounds:,} rounds", told, "", None


def _linear(stream: Simulated) -> PrivateLinear:
    return PrivateLinear(concepts=class_over(stream.schema), epsilon=EPSILON, delta=DELTA)


def _trees(stream: Simulated) -> PrivateLearner:
    rounds = len(stream.labels)
    concepts = class_over(stream.schema)
    return Request(over=concepts, rounds=rounds, epsilon=EPSILON, delta=DELTA).recipe()


def error(learner: PrivateLearner, stream: Simulated) -> float:
    """The share of rounds in which the published hypothesis erred."""
    run, taken, wrong = learner.start(rng=seeded(1)), 0, 0
    cells, labels = run.validated(stream.columns, stream.labels)
    while taken < len(labels):
        published = run.hypothesis
        count = run.take(cells[taken:], labels[taken:])
        rows = slice(taken, taken + count)
        wrong += int((published.many(cells[rows]) != labels[rows]).sum())
        taken += count
    return wrong / len(labels)


def simulated(kind: str, rounds: int, fields: int, seed: int) -> Simulated:
    rng = np.random.default_rng([seed, rounds, fields, list(KINDS).index(kind)])
    shared = rng.normal(size=(rounds, 3)) @ rng.normal(size=(3, fields))
    values = shared * rng.choice([0.0, 0.5, 1.0]) + rng.normal(size=(rounds, fields))
    values /= values.std(axis=0)
    grids = [
        np.linspace(-1.5, 1.5, int(rng.integers(2, 6))) + 0.3 * rng.normal() for _ in range(fields)
    ]
    score = KINDS[kind](rng, values)
    score = score / score.std() - np.quantile(score / score.std(), rng.uniform(0.3, 0.7))
    chance = 1 / (1 + np.exp(-rng.choice([2.0, 4.0, 10.0]) * score))
    return Simulated(
        kind,
        Schema.from_mapping({f"x{i}": {"grid": grid.tolist()} for i, grid in enumerate(grids)}),
        {f"x{i}": column for i, column in enumerate(values.T)},
        (rng.random(rounds) < chance).astype(np.uint8),
    )


def _many(rng: np.random.Generator, values: Floats) -> Floats:
    return np.asarray(values @ rng.normal(size=values.shape[1]))


def _few(rng: np.random.Generator, values: Floats) -> Floats:
    chosen = rng.permutation(values.shape[1])[:3]
    return np.asarray(values[:, chosen] @ rng.normal(size=3))


def _tree(rng: np.random.Generator, values: Floats) -> Floats:
    leaves = np.zeros(len(values), dtype=np.int64)
    for _ in range(3):
        asked = rng.integers(values.shape[1], size=8)[leaves]
        cuts = 0.5 * rng.normal(size=8)[leaves]
        leaves = 2 * leaves + (values[np.arange(len(values)), asked] > cuts)
    return np.asarray((rng.choice([-1.0, 1.0], size=8) * rng.uniform(0.3, 1.5, size=8))[leaves])


def _bump(rng: np.random.Generator, values: Floats) -> Floats:
    chosen = rng.permutation(values.shape[1])[:2]
    return np.asarray(np.abs(values[:, chosen] - 0.3 * rng.normal(size=2)).sum(axis=1))


def _change(rng: np.random.Generator, values: Floats) -> Floats:
    before, after = _many(rng, values), _many(rng, values)
    return np.where(np.arange(len(values)) < len(values) * rng.uniform(0.3, 0.7), before, after)


KINDS: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "many fields": _many,
    "few fields": _few,
    "a tree": _tree,
    "a bump": _bump,
    "a change": _change,
}
