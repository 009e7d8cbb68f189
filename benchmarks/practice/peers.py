"""What a user would pick instead of our default, measured on one stream.

Private linear models have their batch size and rate picked in hindsight; River's learners see
every example in the clear.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from benchmarks.practice.private_linear import NOISES, gaussian_scale, settings, wrong_rounds
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray
from river import forest, linear_model, neighbors, preprocessing, tree

# Of 28 settings with few runs the best one would be the luckiest. Long streams differ little.
RUNS, RUNS_OF_LONG = 20, 3
LONG = 10_000
POINTS = 60

LINEAR = "River LogisticRegression"
NEIGHBOURS, FOREST = "River KNNClassifier", "River ARFClassifier"
RIVER: Mapping[str, Callable[[list[str]], Any]] = {
    LINEAR: lambda _: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    "River HoeffdingTree": lambda nominal: tree.HoeffdingTreeClassifier(nominal_attributes=nominal),
    NEIGHBOURS: lambda _: preprocessing.StandardScaler() | neighbors.KNNClassifier(),
    FOREST: lambda nominal: forest.ARFClassifier(nominal_attributes=nominal, seed=1),
}
SLOW = (NEIGHBOURS, FOREST)
"""Not run on long streams."""


def curve(wrong: NDArray[np.bool_]) -> list[float]:
    """The share of mistakes so far, at evenly spaced rounds."""
    ends = np.linspace(0, len(wrong), POINTS + 1).astype(np.int64)[1:]
    return [round(float(share), 5) for share in np.cumsum(wrong)[ends - 1] / ends]


def mean_curve(runs: list[NDArray[np.bool_]]) -> list[float]:
    return [round(float(share), 5) for share in np.mean([curve(run) for run in runs], axis=0)]


def private_linear(
    stream: Stream, peer: str, *, epsilon: float, delta: float, count: int | None = None
) -> dict[str, Any]:
    """Every setting's mean error in so many runs, and the curve of the best of them."""
    scale = gaussian_scale(epsilon, delta)
    seeds = range(count or (RUNS if len(stream.labels) <= LONG else RUNS_OF_LONG))
    orders = [stream.shuffled(seed) for seed in seeds[: 1 if stream.ordered else None]]
    inputs = [(order.features(), order.labels) for order in orders]
    grid: dict[str, float] = {}
    best: tuple[float, str, list[float]] = (2.0, "", [])
    for batches, rate in settings():
        if batches > len(stream.labels):
            continue
        runs = [
            wrong_rounds(
                *inputs[seed % len(inputs)],
                NOISES[peer],
                scale=scale,
                batches=batches,
                rate=rate,
                seed=seed,
            )
            for seed in seeds
        ]
        name, error = f"{batches} batches, rate {rate:g}", float(np.mean(runs))
        grid[name] = round(error, 5)
        best = min(best, (error, name, mean_curve(runs)))
    error, name, shares = best
    return {"error": round(error, 5), "setting": name, "curve": shares, "grid": grid}


def river(stream: Stream, peer: str) -> dict[str, Any]:
    """One pass over one order."""
    shuffled = stream.shuffled(0)
    categories = {
        name: entry["values"] for name, entry in stream.declared.items() if "values" in entry
    }
    # Small whole numbers, weekdays for instance, River's trees do better to compare.
    words = [name for name, values in categories.items() if isinstance(values[0], str)]
    model, numbers_only = RIVER[peer](words), peer in (LINEAR, NEIGHBOURS)
    wrong = np.empty(len(stream.labels), dtype=np.bool_)
    for number, (record, label) in enumerate(shuffled.records()):
        x = _one_hot(record, categories) if numbers_only else record
        wrong[number] = bool(model.predict_one(x)) != label
        model.learn_one(x, label)
    return {"error": round(float(wrong.mean()), 5), "curve": curve(wrong)}


def _one_hot(record: dict[str, Any], categories: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """With a 0 for every category that it is not: what is scaled must have been seen to vary."""
    x = {name: value for name, value in record.items() if name not in categories}
    for name, values in categories.items():
        x |= {f"{name}={value}": int(record[name] == value) for value in values}
    return x
