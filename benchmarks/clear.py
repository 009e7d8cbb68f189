"""Tables in the clear: how far the default is from learners without noise.

Beside River's learners and one pass of scikit-learn it shows the default at epsilon = 16, where
noise hardly matters, and the same with batches that double without a limit: what privacy costs, and
what the small published rules cost. Kept in docs/practice.json.

    GROUP="held out" python -m benchmarks clear           one group of ``benchmarks tables``
    TABLES=biopsies,Boston python -m benchmarks clear     some tables; others as kept
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
from benchmarks.practice import kept as keeping
from benchmarks.practice import peers
from benchmarks.practice.comparing import default, measured
from benchmarks.practice.stream import Stream
from benchmarks.tables import GROUPS
from sklearn.linear_model import SGDClassifier

from littlestone.learners.disjoint_batches.recipe import DisjointBatches

Row = tuple[str, str, str, bool | None]
ASKED = 1.22
NEARLY_CLEAR = 16.0
RUNS = int(os.environ.get("RUNS", "3"))
# A forest takes milliseconds for a row, and a tree as long over many fields.
FOREST_ROUNDS, TREE_CELLS = 3000, 150_000
ONE_PASS = "scikit-learn SGDClassifier"
_AT_ONCE = 10


def measure() -> Iterator[Row]:
    kept = {"clear": {}} | keeping.read()
    for group in [os.environ["GROUP"]] if "GROUP" in os.environ else GROUPS:
        tasks, before = GROUPS[group], kept["tables"][group]["streams"]
        wanted = os.environ.get("TABLES", ",".join(tasks)).split(",")
        for name in [name for name in tasks if name in wanted]:
            stream = tasks[name].stream(name)
            entry = kept["clear"][name] = _open(stream) | _without_noise(stream)
            entry["ours 1"] = before[name]["ours 1"]
            yield name, ", ".join(f"{key} {error:.4f}" for key, error in entry.items()), "", None
            keeping.write(kept)
        yield from _medians(group, [kept["clear"][name] for name in tasks if name in kept["clear"]])


def _medians(group: str, entries: list[dict[str, float]]) -> Iterator[Row]:
    for what, target in (("ours 1", ASKED), ("ours 16", None), ("ours 16, no limit", None)):
        middle = median(entry[what] / _best(entry) for entry in entries)
        told = f"{group}, {what}: error relative to the best in the clear, median of {len(entries)}"
        asked = "" if target is None else f"≤ {target}"
        yield told, f"{middle:.2f}", asked, None if target is None else middle <= target


def _best(entry: dict[str, float]) -> float:
    return min(error for key, error in entry.items() if not key.startswith("ours"))


def _open(stream: Stream) -> dict[str, float]:
    rounds, fields = len(stream.labels), len(stream.declared)
    names = [peers.LINEAR]
    if rounds * fields <= TREE_CELLS:
        names.append("River HoeffdingTree")
    if rounds <= FOREST_ROUNDS:
        names.append(peers.FOREST)
    found = {name: float(peers.river(stream, name)["error"]) for name in names}
    return found | {ONE_PASS: _one_pass(stream.shuffled(0))}


def _one_pass(stream: Stream) -> float:
    """Predict a few rounds, then learn from them."""
    model: Any = SGDClassifier(loss="log_loss", random_state=1)
    inputs, labels = stream.features(), stream.labels
    wrong = int(labels[:_AT_ONCE].sum())
    for start in range(0, len(labels), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        if start:
            wrong += int((model.predict(inputs[some]) != labels[some]).sum())
        model.partial_fit(inputs[some], labels[some], classes=np.array([0, 1]))
    return round(wrong / len(labels), 5)


def _without_noise(stream: Stream) -> dict[str, float]:
    learner = default(stream, NEARLY_CLEAR)
    assert isinstance(learner, DisjointBatches)
    each = {
        "ours 16": learner,
        "ours 16, no limit": replace(learner, longest=len(stream.labels), window=0),
    }
    return {name: float(measured(stream, one, RUNS)["error"]) for name, one in each.items()}
