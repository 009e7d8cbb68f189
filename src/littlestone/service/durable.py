"""A run that survives being killed at any moment: exactly once in, identical bytes out."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, groupby, repeat
from operator import attrgetter
from pathlib import Path
from typing import Final

from littlestone import require
from littlestone.errors import HorizonExceededError, StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.snapshots import Saved
from littlestone.randomness import keyed
from littlestone.service.baselines import Hindsight
from littlestone.service.entries import (
    Checkpoint,
    Release,
    Taken,
    chained,
    release_body,
)
from littlestone.service.feeding import Feeding
from littlestone.service.log.intake import Event, Intake, Receipt
from littlestone.service.promises.ranges import (
    PaidRanges,
    as_text,
    from_text,
    promise_with,
    total_cost,
)
from littlestone.service.promises.users import digests_under
from littlestone.service.store import Reservation, Store, Witness
from littlestone.service.store_file import finding_damage

CHECKPOINT_EVERY = 20_000  # rounds, which an opening replays: single ones take their time
_MEGABYTE: Final = 20


class _RepeatedError(Exception):
    """Some id of a group was taken before."""


class DifferentContentError(StoreError):
    """An event id came again with another example."""


class _StoreGuards:
    """The store's epochs and its lock already see to it that nothing is continued twice."""

    def claim(self, saved: Saved) -> None:
        del saved

    def went_on(self, identity: str, number: int) -> None:
        del identity, number


@require.checked
class DurableRun:
    """A private learner whose every step is on disk before anybody hears of it.

    The noise is stretched from a key that is stored before the first example, so a crashed run is
    replayed from the last checkpoint and publishes the same bytes again. After an unexpected error
    the run refuses to go on until it is opened anew.
    """

    def __init__(self, recipe: PrivateLearner, store: Store, run: PrivateRun) -> None:
        self._recipe, self._store, self._run = recipe, store, run
        digests = None if store.users is None else digests_under(store.key)
        self._intake = Intake(recipe.concepts.domain, digests)
        self.ranges = () if store.ranges is None else from_text(store.ranges)
        """What was spent on the ranges of its schema before it began."""
        run.ledger.promise = self.promise
        run.ledger.beforehand = total_cost(self.ranges, None, 1)
        self._rounds = store.events.rounds
        self._last = store.release_at(self._rounds)
        self._published = run.hypothesis
        saved = store.checkpoint()
        self._checkpointed = 0 if saved is None else saved.round
        self._size = 0 if saved is None else len(saved.snapshot)
        self._feeding = Feeding(recipe, store, run, saved)
        self._broken = False

    @classmethod
    def start(
        cls,
        recipe: PrivateLearner,
        path: str | Path,
        *,
        users: str | None = None,
        reserved: Reservation | None = None,
        ranges: Sequence[PaidRanges] = (),
        options: str = "",
    ) -> "DurableRun":
        """A new durable run, with its first release, or nothing at all.

        With ``users``, a word for whom events belong to, ``max_contributions`` of each are read.
        ``ranges`` is what was spent on its schema and the same data: it adds to the promise.
        ``options`` is what it was asked for with, kept for its owner.
        """
        ranges = require.listed(PaidRanges, ranges=ranges)
        form, key = canonical_form(recipe), secrets.token_bytes(32)
        identity, book = reserved or (secrets.token_hex(16), None)
        run = recipe.start(rng=keyed(key, label=form))
        body = release_body(run.hypothesis, run=identity, number=1, round_number=0)
        first = Release(1, 0, body, chained(b"", body))
        promise = promise_with(recipe, users, ranges)
        store = Store.create(
            path,
            identity=identity,
            recipe=form,
            key=key,
            first=first,
            promise=promise,
            users=users,
            book=book,
            ranges=as_text(ranges) if ranges else None,
            options=options,
        )
        return cls(recipe, store, run)

    @classmethod
    def resume(
        cls,
        recipe: PrivateLearner | Callable[[Mapping[str, str]], PrivateLearner],
        path: str | Path,
        *,
        users: str | None = None,
        adopt: bool = False,
        witness: Witness | None = None,
    ) -> "DurableRun":
        """Continue exactly where the store stands, after checking that it is whole.

        The recipe may be a function of what the store says of itself (``read_about``). A store that
        is not the successor of its mark is refused. If the mark is lost, or the file is a copy,
        nobody knows whether another copy went on; ``adopt`` says that none did. A ``witness`` may
        look at what the store has published and refuse it, too.
        """
        found: list[PrivateLearner] = []

        def form(about: Mapping[str, str]) -> str:
            found.append(recipe if isinstance(recipe, PrivateLearner) else recipe(about))
            return canonical_form(found[-1])

        store = Store.open(path, recipe=form, users=users, adopt=adopt, witness=witness)
        try:
            with finding_damage(store.path):
                return cls._continued(found[-1], store)
        except BaseException:
            store.close()
            raise

    @classmethod
    def _continued(cls, recipe: PrivateLearner, store: Store) -> "DurableRun":
        saved = store.checkpoint()
        if saved is None:
            # A replay: the log holds what was fed before, and the store has one owner at a time.
            rng = keyed(store.key, label=canonical_form(recipe), replay=True)
            run = recipe.start(rng=rng)
        else:
            run = recipe.restore(saved.snapshot, _StoreGuards())
        durable = cls(recipe, store, run)
        durable._replay()
        return durable

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a DurableRun cannot be copied or pickled: two would write to one store with the same "
            "noise. Close it, and open the store where it is needed (DurableRun.resume)"
        )

    def close(self) -> None:
        self._run.retire("belongs to a store that was closed; open it again")
        self._store.close()

    @property
    def run(self) -> PrivateRun:
        """The run inside, to look at; never feed it."""
        return self._run

    @property
    def identity(self) -> str:
        """The public name of the run, which every published line bears."""
        return self._store.identity

    @property
    def promise(self) -> str:
        """What is promised, and to whom; the ledger says the same."""
        return promise_with(self._recipe, self._store.users, self.ranges)

    @property
    def book(self) -> str | None:
        """The budget book that it was created with."""
        return self._store.book

    @property
    def created(self) -> str:
        """When the store was, in words."""
        return self._store.created

    @property
    def adopted(self) -> bool:
        """Whether nothing but the word of whoever opened it says that this is the newest copy."""
        return self._store.adopted

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def mistakes(self) -> int:
        """Mistakes of the published hypotheses so far: for the owner, not for publication."""
        return self._feeding.mistakes

    def hindsight(self) -> Hindsight:
        """The best constant and the best rule on what was read: as private as the labels."""
        return self._feeding.baselines.hindsight()

    def curve(self) -> list[tuple[int, int]]:
        """Rounds and mistakes so far, at a few hundred points; as private as the labels."""
        return [*self._store.curve(), (self._rounds, self._feeding.mistakes)]

    @property
    def newest(self) -> Release:
        """The release in force."""
        return self._last

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """What was published, the same bytes every time."""
        require.integer(after=after, at_least=0, at_most=2**63 - 1)
        return self._store.releases(after=after)

    def ids_ending(self, text: str) -> list[str]:
        """The ids of events that were taken which end so."""
        return self._store.events.ids_ending(text)

    def alike(self, events: Sequence[Event]) -> list[bool | None]:
        """Whether each was taken with the same example, of the same user; None if its id is new."""
        events = require.listed(Event, events=events)
        known = [self._store.events.find(event.id) for event in events]
        return [
            None if old is None else (old.digest, old.user) == (new.digest, new.user)
            for old, new in zip(known, self._intake.checked(events, first=1), strict=True)
        ]

    def take(
        self, events: Sequence[Event], publish: Callable[[Release], None] | None = None
    ) -> list[Receipt]:
        """Take a group of events in one commit; then publish, then acknowledge.

        An id that was taken before gets its old receipt and changes nothing; with another example
        it is an error. Bad input is refused before anything changes.
        """
        if self._broken:
            raise StoreError("an earlier error left this run in doubt; open the store again")
        events = require.listed(Event, events=events)
        taken = self._intake.checked(events, first=self._rounds + 1)
        limit = self._recipe.rounds
        if limit is not None and self._rounds + len(taken) > limit:
            taken, known = self._without_repeats(taken)
            if self._rounds + len(taken) > limit:
                raise HorizonExceededError(rounds=limit)
            return self._receipts(events, self._commit(taken, publish), known)
        try:
            return self._receipts(events, self._commit(taken, publish), {})
        except _RepeatedError:
            fresh, known = self._without_repeats(taken)
            return self._receipts(events, self._commit(fresh, publish), known)

    def _without_repeats(self, taken: list[Taken]) -> tuple[list[Taken], dict[str, Receipt]]:
        """Those that are new, numbered without gaps, and the receipts of the others."""
        known: dict[str, Receipt] = {}
        fresh: dict[str, Taken] = {}
        for event in taken:
            earlier = fresh.get(event.id) or self._store.events.find(event.id)
            if earlier is None:
                fresh[event.id] = event._replace(round=event.batch + len(fresh))
            elif (earlier.digest, earlier.user) != (event.digest, event.user):
                what = "example" if earlier.digest != event.digest else "user"
                raise DifferentContentError(
                    f"event {event.id!r} was taken in round {earlier.round} with another {what}; "
                    f"nothing of this group was taken"
                )
            elif event.id not in fresh:
                release = self._store.release_at(earlier.round)
                known[event.id] = Receipt(earlier.round, release.number, repeated=True)
        return list(fresh.values()), known

    def _commit(
        self, fresh: list[Taken], publish: Callable[[Release], None] | None
    ) -> dict[str, Receipt]:
        if not fresh:
            return {}
        before = self._last.number
        receipts = self._store.committed(partial(self._logged, fresh))
        self._store.mark(self._rounds)
        self._broken = False
        if publish is not None and self._last.number > before:
            for release in self._store.releases(after=before):
                publish(release)
        return receipts

    def _logged(self, fresh: list[Taken]) -> dict[str, Receipt]:
        """Log events and what is learned from them; whoever calls commits it."""
        self._broken = True  # until it is committed
        if not self._store.events.add(fresh):
            self._broken = False
            raise _RepeatedError  # nothing was done yet
        receipts = self._learn(fresh)
        if self._rounds - self._checkpointed >= self._every():
            self._save()
        for point in self._feeding.drawn:
            self._store.add_to_curve(*point)
        self._feeding.drawn.clear()
        return receipts

    def _every(self) -> int:
        """After how many rounds the next checkpoint is due: large states are saved less often."""
        return CHECKPOINT_EVERY * (1 + min(self._size >> _MEGABYTE, 2))

    def _save(self) -> None:
        snapshot, mistakes = self._run.snapshot(), self._feeding.mistakes
        baselines = self._feeding.baselines.state()
        self._store.set_checkpoint(Checkpoint(self._rounds, mistakes, snapshot, baselines))
        self._checkpointed, self._size = self._rounds, len(snapshot)

    def _learn(self, fresh: list[Taken]) -> dict[str, Receipt]:
        receipts: dict[str, Receipt] = {}
        unread = self._feeding.unread(fresh)
        for first, last in self._feeding.fed(fresh, unread):
            before, self._rounds = self._rounds, fresh[last - 1].round
            if last - first > 1:
                ids = [event.id for event in fresh[first : last - 1]]
                numbered = map(Receipt, count(before + 1), repeat(self._last.number))
                receipts.update(zip(ids, numbered, strict=False))
            if self._changed():
                self._log_release(self._rounds)
            receipts[fresh[last - 1].id] = Receipt(self._rounds, self._last.number)
        for event in fresh if unread else ():
            if event.round in unread:
                receipts[event.id] = receipts[event.id]._replace(unread=True)
        return receipts

    def _changed(self) -> bool:
        newest, before = self._run.hypothesis, self._published
        self._published = newest
        return newest is not before and newest != before

    def _receipts(
        self, events: Sequence[Event], new: dict[str, Receipt], known: dict[str, Receipt]
    ) -> list[Receipt]:
        if len(new) == len(events):
            return list(new.values())
        receipts = []
        told = set[str]()
        for event in events:
            receipt = known.get(event.id) or new[event.id]
            # The same id again within the group gets the same answer, marked as repeated.
            receipts.append(receipt._replace(repeated=True) if event.id in told else receipt)
            told.add(event.id)
        return receipts

    def _log_release(self, round_number: int) -> None:
        """Log what is published from now on."""
        number = self._last.number + 1
        body = release_body(
            self._published, run=self.identity, number=number, round_number=round_number
        )
        release = Release(number, round_number, body, chained(self._last.chain, body))
        self._store.add_release(release)
        self._last = release

    def _replay(self) -> None:
        """Feed the events since the checkpoint again; the log must come out the same."""
        in_force = self._store.release_at(self._checkpointed)
        self._compare(in_force, in_force.round)
        logged = self._store.releases(after=in_force.number)
        missing = list(self._store.events.after(self._checkpointed))
        for _, group in groupby(self._feeding.with_examples(missing), key=attrgetter("batch")):
            events = list(group)
            for _, last in self._feeding.fed(events, self._feeding.unread(events)):
                if self._changed():
                    self._compare(next(logged, None), events[last - 1].round)
        if next(logged, None) is not None or self._run.rounds_played != self._rounds:
            self._compare(None, self._rounds)
        logged_curve = [point for point in self._store.curve() if point[0] > self._checkpointed]
        if self._feeding.drawn != logged_curve:
            raise StoreError(f"{self._store.path} is damaged: its curve of mistakes is another")
        self._feeding.drawn.clear()

    def _compare(self, known: Release | None, round_number: int) -> None:
        number = 0 if known is None else known.number
        body = release_body(
            self._published, run=self.identity, number=number, round_number=round_number
        )
        if known is None or body != known.body:
            raise StoreError(
                f"replaying {self._store.path} gave another release in round {round_number} than "
                f"was logged; the store or the library has changed. Refusing to go on"
            )
