"""Simulated streams, some of which change: what the watch of ``DisjointBatches`` gains and costs.

The sizes of windows and recent batches were chosen on streams of these kinds (docs/practice.md).
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from benchmarks.practice import kept as keeping
from benchmarks.practice.ours import wrong_rounds
from benchmarks.practice.simulated import ROUNDS, SIMULATED, simulated

from littlestone.choose.auto import class_over
from littlestone.choose.request import Request
from littlestone.learners.disjoint_batches.recipe import DisjointBatches

Row = tuple[str, str, str, bool | None]
RUNS = 6
EPSILONS = (1.0, 0.1)
# So much more than batches alone the watch may cost where nothing changes.
COST = 0.005


def measure() -> Iterator[Row]:
    """The default, the same without a horizon, without recent batches, and batches alone."""
    kept = keeping.read()
    kept["simulated"] = {f"{epsilon:g}": {} for epsilon in EPSILONS}
    for epsilon in EPSILONS:
        for name, what in SIMULATED.items():
            errors = {key: _error(each, name) for key, each in _learners(name, epsilon).items()}
            share = fmean(float(simulated(name, seed).labels.mean()) for seed in range(RUNS))
            entry = {"what": what, "constant": round(min(share, 1 - share), 5), **errors}
            kept["simulated"][f"{epsilon:g}"][name] = entry
            limit = errors["batches alone"] + COST
            measured = ", ".join(f"{key} {error:.4f}" for key, error in errors.items())
            passed = errors["watch"] <= limit
            yield f"{name}, ε = {epsilon:g}: {what}", measured, f"watch ≤ {limit:.4f}", passed
    keeping.write(kept)


def _learners(name: str, epsilon: float) -> dict[str, DisjointBatches]:
    rules = class_over(simulated(name).schema)
    default = Request(over=rules, rounds=ROUNDS, epsilon=epsilon).recipe()
    assert isinstance(default, DisjointBatches)
    return {
        "watch": default,
        "not planned": replace(default, planned=False),
        "windows alone": replace(default, recent=0),
        "batches alone": replace(default, window=0),
    }


def _error(learner: DisjointBatches, name: str) -> float:
    runs = (wrong_rounds(learner, simulated(name, seed), seed) for seed in range(RUNS))
    return round(fmean(float(run.mean()) for run in runs), 5)
