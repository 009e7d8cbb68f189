"""Simulated streams: what the limit on batches gains and costs, more epsilon, constants shown.

The default was chosen on streams of these kinds, among others (docs/theory/practice-log.md).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import fmean, geometric_mean

import numpy as np
from benchmarks.practice import kept as keeping
from benchmarks.practice.kinds import KINDS, of_kind
from benchmarks.practice.ours import wrong_rounds
from benchmarks.practice.simulated import ROUNDS, SIMULATED, payments, simulated

from littlestone.choose.auto import class_over
from littlestone.choose.request import Request
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]
RUNS = 6
EPSILONS = (1.0, 0.1)
# Epsilon grows, and with it the error of no step may, but for chance.
LADDER, MORE = (1.0, 2.0, 4.0, 8.0, 16.0), 1.01
LADDER_ROUNDS, LADDER_RUNS = 2000, 3
# So large a share of the second half a constant may be shown though a rule errs a tenth less.
SHOWN, LESS = 0.01, 0.9
# So much more than batches without a limit the limit may cost where nothing changes.
COST = 0.01


def measure() -> Iterator[Row]:
    yield from _ladder()
    yield from _constants_shown()
    yield from _limits()


def _ladder() -> Iterator[Row]:
    """Geometric means over streams of one law, relative to epsilon = 1."""
    means: list[float] = []
    for epsilon in LADDER:
        errors = []
        for kind, seed in product(KINDS, range(LADDER_RUNS)):
            stream = of_kind(kind, LADDER_ROUNDS, seed)
            learner = Request(over=stream.schema, rounds=LADDER_ROUNDS, epsilon=epsilon).recipe()
            errors.append(float(wrong_rounds(learner, stream, seed).mean()))
        means.append(geometric_mean(errors))
        relative = means[-1] / means[0]
        limit = MORE * means[max(0, len(means) - 2)] / means[0]
        what = f"streams of one law, ε = {epsilon:g}: error relative to ε = 1"
        yield what, f"{relative:.3f}", f"≤ {limit:.3f}", relative <= limit


def _constants_shown() -> Iterator[Row]:
    """How long, of the second half of many payments, a constant is published."""
    stream = payments()
    learner = Request(over=stream.schema, rounds=len(stream.labels), epsilon=1.0).recipe()
    half, shares, wrong = len(stream.labels) // 2, [], []
    for seed in range(2):
        run, shown = learner.start(rng=seeded(seed)), 0
        cells, labels = run.validated(stream.columns, stream.labels)
        errors, taken = np.empty(len(labels), dtype=np.bool_), 0
        while taken < len(labels):
            rule = run.hypothesis
            count = run.take(cells[taken:], labels[taken:])
            some = slice(taken, taken + count)
            errors[some] = rule.many(cells[some]) != labels[some]
            taken += count
            if isinstance(rule, DecisionTree) and not rule.conditions:
                shown += max(0, min(count, taken - half))
        shares.append(shown / half)
        wrong.append(float(errors[half:].mean()))
    always = float(stream.labels[half:].mean())
    what = f"{len(stream.labels):,} payments, second half: rounds in which a constant is shown"
    told = f"{fmean(shares):.2%}; errors {fmean(wrong):.4f}, of the constant {always:.4f}"
    reached = fmean(shares) <= SHOWN and fmean(wrong) <= LESS * always
    yield what, told, f"≤ {SHOWN:.0%}, errors ≤ {LESS * always:.4f}", reached


def _limits() -> Iterator[Row]:
    """The default, with or without a vote, batches without a limit or never longer than it."""
    kept = keeping.read()
    kept["simulated"] = {f"{epsilon:g}": {} for epsilon in EPSILONS}
    for epsilon in EPSILONS:
        for name, what in SIMULATED.items():
            errors = {key: _error(each, name) for key, each in _learners(name, epsilon).items()}
            share = fmean(float(simulated(name, seed).labels.mean()) for seed in range(RUNS))
            entry = {"what": what, "constant": round(min(share, 1 - share), 5), **errors}
            kept["simulated"][f"{epsilon:g}"][name] = entry
            limit = errors["no limit"] + COST
            measured = ", ".join(f"{key} {error:.4f}" for key, error in errors.items())
            passed = errors["default"] <= limit
            yield f"{name}, ε = {epsilon:g}: {what}", measured, f"default ≤ {limit:.4f}", passed
    keeping.write(kept)


def _learners(name: str, epsilon: float) -> dict[str, DisjointBatches]:
    rules = class_over(simulated(name).schema)
    default = Request(over=rules, rounds=ROUNDS, epsilon=epsilon).recipe()
    assert isinstance(default, DisjointBatches)
    votes = default.voters == 3  # with little epsilon nobody votes
    return {
        "default": default,
        "no limit": replace(default, longest=ROUNDS),
        "no longer with time": replace(default, past=ROUNDS),
        "no vote" if votes else "vote": replace(default, voters=1 if votes else 3),
    }


def _error(learner: DisjointBatches, name: str) -> float:
    runs = (wrong_rounds(learner, simulated(name, seed), seed) for seed in range(RUNS))
    return round(fmean(float(run.mean()) for run in runs), 5)
