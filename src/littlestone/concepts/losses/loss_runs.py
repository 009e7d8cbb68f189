"""The losses of all concepts of a class on some examples, as runs of equal loss.

Thresholds, points and intervals are never written out: their losses are constant between the points
that occurred, so that a million concepts cost no more than the examples do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from littlestone.concepts.capabilities import InRuns
from littlestone.concepts.losses.label_counts import Counts, Tallied
from littlestone.concepts.losses.listing import finder, labels_at
from littlestone.concepts.protocols import ConceptClass, Hypothesis

LARGEST_LIST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LossRuns:
    """Losses of concepts in a row: run i has ``lengths[i]`` concepts of loss ``losses[i]``.

    Without ``lengths`` each concept is a run of its own. ``concept`` gives the concept at a
    position, the runs laid out one after another.
    """

    losses: Counts
    lengths: Sequence[int] | None
    concept: Callable[[int], Hypothesis]


def require_losses(concepts: ConceptClass) -> int:
    """The number of concepts, or a refusal if ``losses_on`` cannot handle the class."""
    size = concepts.size
    if size is None:
        raise ValueError(f"concepts must be finitely many, got concepts={concepts!r}")
    if size > LARGEST_LIST and not isinstance(concepts, InRuns):
        raise ValueError(
            f"concepts must be thresholds, points or intervals, or at most {LARGEST_LIST} in "
            f"number, got {size} in concepts={concepts!r}"
        )
    return size


def losses_on(concepts: ConceptClass, tally: Tallied, *, deepest: int) -> LossRuns:
    """The mistakes of every concept.

    A loss that exceeds the least by ``deepest`` or more may be given as the least plus
    ``deepest``: nobody draws concepts so bad.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.concepts.losses.label_counts import tallied
    >>> concepts = Thresholds(2**40)
    >>> runs = losses_on(concepts, tallied(concepts, [(9, 1), (4, 0)]), deepest=9)
    >>> runs.losses.tolist(), runs.lengths
    ([1, 0, 1], [5, 5, 1099511627767])
    >>> runs.concept(7).describe()
    'x >= 7'
    """
    if isinstance(concepts, InRuns):
        return concepts.loss_runs(tally, deepest=deepest)
    losses = tally.losses_of(labels_at(concepts, tally.points))
    return LossRuns(losses, None, finder(concepts))


def threshold_runs(n: int, tally: Tallied, concept: Callable[[int], Hypothesis]) -> LossRuns:
    """1[x >= k] labels a point x with 1 for k = 0 .. x, and with 0 from x + 1 on."""
    steps = np.concatenate([[tally.zeros.sum()], tally.ones - tally.zeros])
    ends = [*(tally.points + 1).tolist(), n + 1]
    lengths = [end - start for start, end in pairwise([0, *ends])]
    return LossRuns(np.cumsum(steps), lengths, concept)


def point_runs(n: int, tally: Tallied, concept: Callable[[int], Hypothesis]) -> LossRuns:
    """ "0 everywhere" errs on all ones; a key errs on its own zeros and on the other ones."""
    everything = int(tally.ones.sum())
    losses, lengths, end = [everything], [1], 0
    own = everything + tally.zeros - tally.ones
    for x, loss in zip(tally.points.tolist(), own.tolist(), strict=True):
        losses += [everything, loss]
        lengths += [x - end, 1]
        end = x + 1
    losses.append(everything)
    lengths.append(n - end)
    return LossRuns(np.array(losses, dtype=np.int64), lengths, concept)
