"""Events become rounds of the run: read in blocks, or passed if their user has had enough."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from littlestone import require
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.service.entries import Taken, as_point
from littlestone.service.store import Store


class Feeding:
    """Feeds the run inside a durable one, and counts the mistakes of what was published."""

    def __init__(
        self, recipe: PrivateLearner, store: Store, run: PrivateRun, *, mistakes: int
    ) -> None:
        self._recipe, self._store, self._run = recipe, store, run
        self.mistakes = mistakes

    def unread(self, events: Sequence[Taken]) -> set[int]:
        """The rounds of a group in the log whose users had their share before: a function of it."""
        most, seen, unread = self._recipe.max_contributions, dict[bytes, int](), set[int]()
        for event in events:
            if event.user is None:
                continue
            if event.user not in seen:
                seen[event.user] = self._store.events_of(
                    event.user, before=event.batch, at_most=most
                )
            if seen[event.user] >= most:
                unread.add(event.round)
            seen[event.user] += 1
        return unread

    def fed(self, events: Sequence[Taken], unread: set[int]) -> Iterator[tuple[int, int]]:
        """Feed one group; yields the stretches at whose ends the hypothesis may have changed."""
        start = 0
        for passed, part in groupby(events, key=lambda event: event.round in unread):
            stretch = list(part)
            if passed:
                for place in range(start, start + len(stretch)):
                    self._run.pass_round()
                    yield place, place + 1
            else:
                for first, last in self._read(stretch):
                    yield start + first, start + last
            start += len(stretch)

    def _read(self, events: Sequence[Taken]) -> Iterator[tuple[int, int]]:
        points, labels = self._examples(events)
        if len(events) == 1:
            wrong_one = self._run.hypothesis(points[0]) != labels[0]
            self._run.observe_canonical(points[0], labels[0])
            self.mistakes += wrong_one
            yield 0, 1
            return
        block, known = block_of(self._recipe.concepts.domain, points), require.labels(labels)
        start = 0
        while start < len(events):
            published = self._run.hypothesis
            end = start + self._run.observe_many_canonical(block[start:], known[start:])
            wrong = published.many(block[start:end]) != known[start:end]
            self.mistakes += int(np.count_nonzero(wrong))
            yield start, end
            start = end

    def _examples(self, events: Sequence[Taken]) -> tuple[list[Point], list[Label]]:
        """The points, in canonical form, and the labels."""
        check = self._recipe.concepts.domain.check
        examples = []
        for event in events:
            if event.example is None:
                x, label = json.loads(event.body or "")
                examples.append((check(as_point(x)), label))
            else:
                examples.append(event.example)
        return [x for x, _ in examples], [y for _, y in examples]
