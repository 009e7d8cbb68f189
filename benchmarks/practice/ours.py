"""Play a private learner on a stream."""

import numpy as np
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray

from littlestone.learners.run import PrivateLearner
from littlestone.randomness import seeded


def wrong_rounds(learner: PrivateLearner, stream: Stream, seed: int) -> NDArray[np.bool_]:
    """In which rounds the published hypothesis erred."""
    run = learner.start(rng=seeded(seed))
    cells, labels = run.validated(stream.columns, stream.labels)
    wrong, taken = np.empty(len(labels), dtype=np.bool_), 0
    while taken < len(labels):
        published = run.hypothesis
        count = run.take(cells[taken:], labels[taken:])
        rows = slice(taken, taken + count)
        wrong[rows] = published.many(cells[rows]) != labels[rows]
        taken += count
    return wrong
