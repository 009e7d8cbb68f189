"""The engine of noisy losses: one batch after another, singly or in blocks of batches."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import points_of
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.losses.listing import finder
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import SnapshotError
from littlestone.learners.agnostic_finite.batch_queries import NO_LABEL, FreshDraws, Lines
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.running_totals import (
    CorrelatedTotals,
    IndependentTotals,
    Totals,
)
from littlestone.learners.engine import Engine
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from littlestone.randomness import Randomness

# Noise and words are drawn for this many rounds and answers at a time, at least one batch.
_ERA_ROUNDS: Final = 1 << 14
_ERA_ANSWERS: Final = 1 << 15


@dataclass(init=False, eq=False, repr=False)
class NoisyLossesEngine(Engine):
    """Collect a batch, release its losses with noise, draw the hypotheses of the next batch."""

    first_rounds: ClassVar[int] = 1

    ledger: Ledger
    _sums: Totals
    _draws: FreshDraws
    _noise: Counts
    """The noise of this era's batches, one row each."""
    _batch: int
    """The number of the batch, from 0."""
    _positions: Counts
    """The concept of each round of this batch."""
    _points: list[Any]
    _labels: list[int]

    hypothesis: Hypothesis  # derived, so not a field of the state

    def __init__(self, plan: NoisyLosses, rng: Randomness) -> None:
        assert plan.batch is not None and plan.epoch is not None and plan.rate is not None
        self._plan, self._rng = plan, rng
        self._length, self._rate = plan.batch, plan.rate
        self._queries = plan.queries
        self._gaussian = DiscreteGaussian(variance=plan.variance)
        self._concept = finder(plan.concepts)
        self._known: dict[int, Hypothesis] = {}
        self._sums = _totals(plan)
        self._draws = FreshDraws(rng)
        answers = _ERA_ANSWERS // self._queries.cells
        self._era = max(1, min(_ERA_ROUNDS // self._length, answers))

    def begin(self) -> None:
        """Charge the ledger for all releases and draw the first batch's hypotheses."""
        cost = self._plan.guarantee()
        self.ledger = Ledger(budget=cost, private=self._rng.private)
        # Every example is in one batch; all releases together cost what the plan says.
        self.ledger.charge("NoisyLosses", cost, first=1)
        if isinstance(self._sums, CorrelatedTotals):
            self._pad(self._sums)
        self._batch, self._points, self._labels = 0, [], []
        self._begin_batch()
        self.loaded()

    def load(self, state: tuple[Any, ...]) -> None:
        """Restore a state.

        Raises:
            SnapshotError: If its noise was drawn for another plan.
        """
        made = [np.shape(part) for part in vars(self._sums).values()]
        super().load(state)
        first = self._batch - self._batch % self._era
        rows = min(self._era, self._plan.releases - first)
        fitting = self._noise.shape == (rows, self._queries.cells)
        fitting &= len(self._positions) == self._length_of(self._batch)
        if not fitting or made != [np.shape(part) for part in vars(self._sums).values()]:
            # The rows may not line up with the batches they were drawn for.
            raise SnapshotError(f"this noise was drawn for another plan than {self._plan!r}")

    def loaded(self) -> None:
        """Look up the hypotheses of the current batch."""
        known, concept = self._known, self._concept
        self._rules = [
            known[p] if p in known else known.setdefault(p, concept(p))
            for p in self._positions.tolist()
        ]
        self.hypothesis = self._rules[min(len(self._labels), len(self._rules) - 1)]

    def step(self, x: Any, y: Label, /) -> None:
        """Take one round; the last round of a batch releases it."""
        self._points.append(x)  # (L1)
        labels = self._labels
        labels.append(y)
        if len(labels) < len(self._rules):
            self.hypothesis = self._rules[len(labels)]
        else:
            self._end_batch()

    def idle(self, x: Any, /) -> None:
        self.step(x, NO_LABEL)

    def steps(self, xs: Any, ys: Any, /) -> int:
        published, taken = self.hypothesis, 0
        while taken < len(ys) and self.hypothesis == published:
            at = len(self._labels)
            ahead = self._positions[at : at + len(ys) - taken]
            others = np.flatnonzero(ahead != ahead[0])
            count = int(others[0]) if len(others) else len(ahead)
            self._take(xs[taken : taken + count], ys[taken : taken + count])
            taken += count
        return taken

    def _take(self, xs: Any, ys: Any) -> None:
        """Take rounds of the current batch."""
        self._points += points_of(xs)
        self._labels += ys.tolist()
        if len(self._labels) < len(self._rules):
            self.hypothesis = self._rules[len(self._labels)]
        else:
            self._end_batch()

    def _end_batch(self) -> None:
        if self._batch == self._plan.releases:  # nothing is released after the last batch
            self.hypothesis = self._rules[-1]
            return
        row = self._batch % self._era
        exact = self._queries.true_answers(self._points, self._labels)
        self._sums.release(exact, self._noise[row])  # (L3, L4)
        self._batch, self._points, self._labels = self._batch + 1, [], []
        self._begin_batch()
        self.loaded()

    def _begin_batch(self) -> None:
        self._prepare_era()
        costs = self._rate * self._queries.estimates(self._sums.total)  # (L5)
        self._positions = self._draws.draw(costs, self._length_of(self._batch))  # (L6)

    def _pad(self, sums: CorrelatedTotals) -> None:
        shape = sums.missing
        sums.pad(self._gaussian.draw_many(math.prod(shape), self._rng).reshape(shape))

    def _prepare_era(self) -> None:
        """Draw the noise of an era's batches, and the words for their draws."""
        if self._batch % self._era:
            return
        batches = min(self._era, self._plan.releases + 1 - self._batch)
        releases = min(batches, self._plan.releases - self._batch)
        noise = self._gaussian.draw_many(releases * self._queries.cells, self._rng)  # (L2)
        self._noise = noise.reshape(releases, self._queries.cells)
        last = self._length_of(self._batch + batches - 1)
        self._draws.read_ahead((batches - 1) * self._length + last)

    def _length_of(self, batch: int) -> int:
        return self._plan.lengths[batch == self._plan.releases]

    def follow(self, xs: Any, ys: Any, /) -> tuple[NDArray[np.uint8], int]:
        """Take the whole block, in whole batches where possible."""
        if not isinstance(self._queries, Lines):
            return super().follow(xs, ys)
        rows = self._queries.rows(xs)
        predictions, switches, at = np.empty(len(ys), dtype=np.uint8), 0, 0
        while at < len(ys):
            whole = self._whole_batches(len(ys) - at)
            count = whole * self._length or min(len(ys) - at, self._left)
            part = slice(at, at + count)
            if whole:
                positions = self._take_batches(rows[part], ys[part], whole)
            else:
                positions = self._positions[len(self._labels) : len(self._labels) + count]
                self._take(xs[part], ys[part])
            predictions[part] = self._queries.stretches.say(positions, rows[part])
            now = self._positions[min(len(self._labels), len(self._positions) - 1)]
            switches += int(np.count_nonzero(positions[1:] != positions[:-1]))
            switches += bool(positions[-1] != now)
            at += count
        return predictions, switches

    @property
    def _left(self) -> int:
        return len(self._positions) - len(self._labels)

    def _whole_batches(self, rounds: int) -> int:
        """Return how many batches can be taken at once, at the start of a batch."""
        if self._labels:
            return 0
        at_once = min(self._era - self._batch % self._era, self._sums.room)
        return min(rounds // self._length, at_once, self._plan.releases - self._batch)

    def _take_batches(self, rows: Counts, labels: Any, whole: int) -> Counts:
        """Take whole batches at once, as ``_take`` would; return the positions played."""
        queries = self._queries
        assert isinstance(queries, Lines)
        first = self._batch % self._era
        exact = queries.true_answers_of_batches(rows, 1.0 - 2.0 * labels, whole)
        totals = self._sums.release_many(exact, self._noise[first : first + whole])  # (L3, L4)
        costs = queries.estimates(totals)  # (L5)
        costs *= self._rate
        self._batch += whole
        later = self._draws.draw(costs[:-1], self._length) if whole > 1 else costs[:0, :0].ravel()
        positions = np.concatenate([self._positions, later], dtype=np.int64, casting="unsafe")
        self._prepare_era()
        self._positions = self._draws.draw(costs[-1], self._length_of(self._batch))  # (L6)
        self.loaded()
        return positions


def _totals(plan: NoisyLosses) -> Totals:
    assert plan.epoch is not None
    cells = plan.queries.cells
    if plan.epoch == 1:
        return IndependentTotals(cells)
    return CorrelatedTotals(cells, epoch=plan.epoch, releases=plan.releases)
