"""Events become rounds of the run: read in blocks, or passed if their user has had enough."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import Example
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.service.baselines import Baselines
from littlestone.service.entries import Checkpoint, Taken, as_point
from littlestone.service.log.counted_users import CountedUsers
from littlestone.service.store import Store

CURVE_STEP: Final = 50


class Feeding:
    """Feeds the run inside a durable one, and counts what its owner will want to know.

    These are the mistakes of what was published, their curve (``drawn``: points that are not
    stored yet, the further apart the later) and the baselines.
    """

    def __init__(
        self, recipe: PrivateLearner, store: Store, run: PrivateRun, saved: Checkpoint | None
    ) -> None:
        self._recipe, self._store, self._run = recipe, store, run
        self.mistakes = 0 if saved is None else saved.mistakes
        known = None if saved is None else saved.baselines
        self.baselines = Baselines(recipe.concepts, known)
        self._rounds = run.rounds_played
        self._counted: CountedUsers | None = None
        if store.users is not None:
            counted = store.events.users(until=self._rounds)
            self._counted = CountedUsers(counted, most=recipe.max_contributions)
        stored = [place for place, _ in store.curve() if place <= self._rounds]
        self._next = _after(stored[-1] if stored else 0)
        self.drawn: list[tuple[int, int]] = []

    def unread(self, events: Sequence[Taken]) -> set[int]:
        """The rounds of the next group in the log whose users had their share before."""
        if self._counted is None:
            return set()
        most, unread = self._recipe.max_contributions, set[int]()
        for event in events:
            assert event.user is not None
            if self._counted.add(event.user) >= most:
                unread.add(event.round)
        return unread

    def fed(self, events: Sequence[Taken], unread: set[int]) -> Iterator[tuple[int, int]]:
        """Feed one group; yields the stretches at whose ends the hypothesis may have changed."""
        if not unread:
            yield from self._read(events)
            return
        start = 0
        for passed, part in groupby(events, key=lambda event: event.round in unread):
            stretch = list(part)
            if passed:
                for place in range(start, start + len(stretch)):
                    self._run.pass_round()
                    self._note_one(wrong=False)
                    yield place, place + 1
            else:
                for first, last in self._read(stretch):
                    yield start + first, start + last
            start += len(stretch)

    def _note_one(self, *, wrong: bool) -> None:
        self._rounds += 1
        self.mistakes += wrong
        if self._rounds == self._next:
            self.drawn.append((self._rounds, self.mistakes))
            self._next = _after(self._rounds)

    def _note(self, wrong: NDArray[np.bool_]) -> None:
        """Some rounds, and which of them were mistakes."""
        first = self._rounds
        self._rounds += len(wrong)
        while self._next <= self._rounds:
            by_then = self.mistakes + int(np.count_nonzero(wrong[: self._next - first]))
            self.drawn.append((self._next, by_then))
            self._next = _after(self._next)
        self.mistakes += int(np.count_nonzero(wrong))

    def _read(self, events: Sequence[Taken]) -> Iterator[tuple[int, int]]:
        if len(events) == 1:
            ((x, label),) = self._examples(events)
            wrong_one = self._run.hypothesis(x) != label
            self._run.observe_canonical(x, label)
            self._note_one(wrong=wrong_one)
            self.baselines.add(x, label)
            yield 0, 1
            return
        examples = self._examples(events)
        block = block_of(self._recipe.concepts.domain, [x for x, _ in examples])
        known = require.labels([label for _, label in examples])
        self.baselines.add_block(block, known)
        start = 0
        while start < len(events):
            published = self._run.hypothesis
            end = start + self._run.observe_many_canonical(block[start:], known[start:])
            wrong = published.many(block[start:end]) != known[start:end]
            self._note(wrong)
            yield start, end
            start = end

    def _examples(self, events: Sequence[Taken]) -> list[Example]:
        """Points in canonical form, and labels."""
        known = [event.example for event in events if event.example is not None]
        return known if len(known) == len(events) else self._examples(self.with_examples(events))

    def with_examples(self, events: Sequence[Taken]) -> list[Taken]:
        """The same events, with what their bodies say; all are read at once."""
        check = self._recipe.concepts.domain.check
        said = json.loads(f"[{','.join([event.body or '' for event in events])}]")
        return [
            Taken(*event[:7], (check(as_point(x)), label))
            for event, (x, label) in zip(events, said, strict=True)
        ]


def _after(place: int) -> int:
    """Where the next point of a curve is: every round at first, then two in a hundred more."""
    return place + 1 + place // CURVE_STEP
