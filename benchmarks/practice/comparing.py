"""The default learner of a ``Request`` beside DP-FTRL with Toeplitz noise, over many streams."""

import time
from collections.abc import Iterator, Sequence
from operator import lt
from typing import Any

import numpy as np
from benchmarks.practice import peers
from benchmarks.practice.ours import wrong_rounds
from benchmarks.practice.stream import Stream

from littlestone.choose.auto import class_over
from littlestone.choose.request import Request
from littlestone.learners.private_linear.recipe import PrivateLinear
from littlestone.learners.run import PrivateLearner

Row = tuple[str, str, str, bool | None]
EPSILONS = (1.0, 0.1)
DELTA = 1e-6
TOEPLITZ = "DP-FTRL, Toeplitz"
WITHIN = 1.15
"""So much of the peer's error ours may have where the peer is better."""


def constant(stream: Stream) -> float:
    share = float(stream.labels.mean())
    return round(min(share, 1 - share), 5)


def default(stream: Stream, epsilon: float) -> PrivateLearner:
    asked = Request(over=stream.schema, rounds=len(stream.labels), epsilon=epsilon, delta=DELTA)
    return asked.recipe()


def linear(stream: Stream, epsilon: float) -> PrivateLearner:
    return PrivateLinear(concepts=class_over(stream.schema), epsilon=epsilon, delta=DELTA)


def measured(stream: Stream, learner: PrivateLearner, count: int) -> dict[str, Any]:
    """The share of mistakes in so many runs, each in an order of its own."""
    runs, start = [], time.process_time()
    for seed in range(count):
        runs.append(wrong_rounds(learner, stream.shuffled(seed), seed))
    errors = [float(run.mean()) for run in runs]
    return {
        "error": round(float(np.mean(errors)), 5),
        "spread": round(float(np.std(errors, ddof=1)), 5),
        "runs": len(runs),
        "seconds": round((time.process_time() - start) / len(runs), 2),
        "curve": peers.mean_curve(runs),
    }


def compared(entries: Sequence[dict[str, Any]], epsilon: float) -> dict[str, Any]:
    """On how many of the streams the default is better.

    The one setting is the best for all of them together, in hindsight: the least sum of errors,
    each divided by the constant's.
    """
    ours = [entry[f"ours {epsilon:g}"]["error"] for entry in entries]
    lines = [entry[f"linear {epsilon:g}"]["error"] for entry in entries]
    grids = [entry[f"{TOEPLITZ} {epsilon:g}"]["grid"] for entry in entries]
    constants = [entry["constant"] for entry in entries]
    least = [min(grid.values()) for grid in grids]

    def excess(setting: str) -> float:
        return sum(
            grid[setting] / constant for grid, constant in zip(grids, constants, strict=True)
        )

    setting = min(sorted(set.intersection(*map(set, grids))), key=excess)
    return {
        "streams": len(ours),
        "better in hindsight": sum(map(lt, ours, least)),
        "setting": setting,
        "better than one setting": sum(map(lt, ours, (grid[setting] for grid in grids))),
        "beyond": sum(error > WITHIN * peer for error, peer in zip(ours, least, strict=True)),
        "linear better": sum(map(lt, lines, least)),
    }


def compared_rows(found: dict[str, Any], epsilon: float) -> Iterator[Row]:
    for peer, won, tenths in (
        ("in hindsight", found["better in hindsight"], 7),
        (f"always {found['setting']}", found["better than one setting"], 9),
    ):
        yield (
            f"ε = {epsilon:g}: better than {TOEPLITZ}, {peer}",
            f"{won} of {found['streams']}",
            f"≥ {tenths} of 10",
            10 * won >= tenths * found["streams"],
        )
    yield (
        f"ε = {epsilon:g}: more than {WITHIN} times its error in hindsight",
        f"{found['beyond']} of {found['streams']}",
        "0",
        found["beyond"] == 0,
    )
