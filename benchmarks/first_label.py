"""The owner lists the label first that is commoner: what that saves the default learner.

Until its first batch ends, the rule is the first of the declared labels. The tables of ``benchmarks
tables`` on which the second label is commoner are run in both ways, with the same orders. Means are
kept in docs/practice.json.

    GROUP="looked at" python -m benchmarks first_label      one group of tables
"""

import math
import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from benchmarks.practice import kept as keeping
from benchmarks.practice.comparing import EPSILONS, Row, default, measured
from benchmarks.practice.stream import Stream
from benchmarks.tables import GROUPS

RUNS = int(os.environ.get("RUNS", "10"))


def measure() -> Iterator[Row]:
    kept = {"first label": {}} | keeping.read()
    for group in [os.environ["GROUP"]] if "GROUP" in os.environ else GROUPS:
        streams = [task.stream(name) for name, task in GROUPS[group].items()]
        commoner = [stream for stream in streams if stream.labels.mean() > 0.5]
        found: dict[str, float] = {"tables": len(commoner)}
        kept["first label"][group] = found
        for epsilon in EPSILONS:
            ratios = [_error(_turned(one), epsilon) / _error(one, epsilon) for one in commoner]
            mean = math.exp(np.mean(np.log(ratios)))
            found[f"{epsilon:g}"] = round(mean, 3)
            what = f"{group}, ε = {epsilon:g}: error relative to the commoner label listed last"
            told = f"{mean:.3f} ({min(ratios):.2f} to {max(ratios):.2f}) on {len(ratios)} tables"
            yield what, told, "< 1", mean < 1
        keeping.write(kept)


def _turned(stream: Stream) -> Stream:
    return replace(stream, labels=(1 - stream.labels).astype(np.uint8))


def _error(stream: Stream, epsilon: float) -> float:
    return float(measured(stream, default(stream, epsilon), RUNS)["error"])
