"""Simulated streams: what linear rules, and the question about the last rule, give to trees.

The default's candidates were chosen on streams of these kinds (docs/theory/practice-log.md).
"""

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean, geometric_mean

from benchmarks.practice.kinds import KINDS, of_kind
from benchmarks.practice.ours import wrong_rounds

from littlestone.choose.request import Request
from littlestone.learners.disjoint_batches.recipe import DisjointBatches

Row = tuple[str, str, str, bool | None]
ROUNDS = (600, 2000)
RUNS = 6
# So much of the error of trees alone the default may have, in the geometric mean of all streams.
GAINED = 0.98


def measure() -> Iterator[Row]:
    found: dict[str, list[float]] = {}
    for kind in KINDS:
        for rounds in ROUNDS:
            errors: dict[str, list[float]] = {}
            for seed in range(RUNS):
                stream = of_kind(kind, rounds, seed)
                default = Request(over=stream.schema, rounds=rounds).recipe()
                assert isinstance(default, DisjointBatches)
                for name, learner in {
                    "trees": replace(default, directions=0, alike=False, asking=False),
                    "and linear rules": replace(default, asking=False),
                    "and the last rule: the default": default,
                }.items():
                    wrong = float(wrong_rounds(learner, stream, seed).mean())
                    errors.setdefault(name, []).append(wrong)
            means = {name: fmean(runs) for name, runs in errors.items()}
            for name, mean in means.items():
                found.setdefault(name, []).append(mean)
            told = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
            yield f"{kind}, {rounds:,} rounds", told, "", None
    means = {name: geometric_mean(values) for name, values in found.items()}
    told = ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
    trees, *_, ours = means.values()
    yield "geometric mean", told, f"≤ {GAINED} × trees", ours <= GAINED * trees
