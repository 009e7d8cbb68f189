"""Simulated streams, some of which change: what the watch of ``DisjointBatches`` gains and costs.

The sizes of windows and recent batches were chosen on streams of these kinds (docs/practice.md).
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from benchmarks.practice import kept as keeping
from benchmarks.practice.ours import wrong_rounds
from benchmarks.practice.simulated import SIMULATED, simulated

from littlestone.defaults import class_over, default_learner
from littlestone.learners.disjoint_batches.recipe import DisjointBatches

Row = tuple[str, str, str, bool | None]
RUNS = 6
# So much more than batches alone the watch may cost where nothing changes.
COST = 0.005


def measure() -> Iterator[Row]:
    """The default, the watch without recent batches, and batches alone, at epsilon 1."""
    kept = keeping.read()
    found = kept["simulated"] = {}
    for name, what in SIMULATED.items():
        rules = class_over(simulated(name).schema)
        default = default_learner(rules, rounds=None, epsilon=1.0, delta=1e-6)
        assert isinstance(default, DisjointBatches)
        learners = {
            "watch": default,
            "windows alone": replace(default, recent=0),
            "batches alone": replace(default, window=0),
        }
        errors = {key: _error(learner, name) for key, learner in learners.items()}
        share = fmean(float(simulated(name, seed).labels.mean()) for seed in range(RUNS))
        found[name] = {"what": what, "constant": round(min(share, 1 - share), 5), **errors}
        limit = errors["batches alone"] + COST
        measured = ", ".join(f"{key} {error:.4f}" for key, error in errors.items())
        yield f"{name}: {what}", measured, f"watch ≤ {limit:.4f}", errors["watch"] <= limit
    keeping.write(kept)


def _error(learner: DisjointBatches, name: str) -> float:
    runs = (wrong_rounds(learner, simulated(name, seed), seed) for seed in range(RUNS))
    return round(fmean(float(run.mean()) for run in runs), 5)
