"""Run a private learner that survives a kill at any moment: events count once, bytes repeat."""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import repeat, takewhile
from pathlib import Path
from typing import Final

from littlestone import __version__, require
from littlestone.errors import HorizonExceededError, StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.learners.snapshots import SnapshotContents
from littlestone.randomness import keyed
from littlestone.runs.book import Reservation
from littlestone.runs.feeding import Feeding, Hindsight, Intake
from littlestone.runs.intake.event import Event, EventBlock, Receipt
from littlestone.runs.intake.users import user_digests
from littlestone.runs.journal.mark import RESTORE
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.protocol import Journal, Place, reporting_damage
from littlestone.runs.journal.records import (
    Checkpoint,
    Group,
    Release,
    Taken,
    chained,
    checked_about,
    release_body,
    release_entry,
    sealed_about,
)
from littlestone.runs.journal.run_log import RunLog
from littlestone.runs.published import Published
from littlestone.runs.ranges import PaidRanges, as_text, from_text, promise_with, total_cost

CHECKPOINT_EVERY = 20_000  # rounds that opening a store replays, one at a time
_MEGABYTE: Final = 20
_NONE: Final[frozenset[int]] = frozenset()
_EVENTS: Final = {Event}


class DifferentContentError(StoreError):
    """An event id was sent again with another example."""


REFUSALS: Final = (DifferentContentError, HorizonExceededError)
"""What ``take`` raises for events that do not fit; the others of a group may be taken."""


Witness = Callable[[Published], None]
"""Checks a store that is about to be continued, and raises if it must not be."""


class _StoreGuards:
    """Accept every state: the mark and the lock of the journal prevent a second continuation."""

    def claim(self, saved: SnapshotContents) -> None:
        del saved

    def use_up(self, identity: str, number: int) -> None:
        del identity, number


@require.checked
class DurableRun:
    """A private learner whose every step is on disk before its results are visible.

    All noise is derived from a key that is stored before the first example. A crashed run is
    therefore replayed from the last checkpoint and publishes the same bytes again. After an
    unexpected error the run accepts no events until it is opened again.
    """

    def __init__(
        self, recipe: PrivateLearner, log: RunLog, run: PrivateRun, *, adopted: bool = False
    ) -> None:
        self._recipe, self._log, self._run, self._process = recipe, log, run, os.getpid()
        users = log.about.get("users")
        self._counts = users is not None
        digests = None if users is None else user_digests(log.key)
        self._intake = Intake(recipe.concepts.domain, digests)
        self.ranges = from_text(log.about["ranges"]) if "ranges" in log.about else ()
        """What was spent on the ranges of the schema before the run began."""
        self.promise = promise_with(recipe, users, self.ranges)
        """What is promised, and to whom; the ledger says the same."""
        self.identity = log.about["identity"]
        """The public name of the run, which is part of every published line."""
        self.book = log.about.get("book")
        """The budget book that the run was created with."""
        self.created = log.about["created"]
        """When the store was created, in words."""
        self.adopted = adopted
        """Whether only the confirmation of the caller says that this is the newest copy."""
        run.ledger.promise = self.promise
        run.ledger.beforehand = total_cost(self.ranges, None, 1)
        self._rounds = log.rounds
        self._last = self._newest = log.release_at(self._rounds)
        self._published = run.hypothesis
        saved = log.checkpoint
        last, size = (0, 0) if saved is None else (saved.round, len(saved.snapshot))
        self._due = _next_checkpoint(last, size)
        self._feeding = Feeding(recipe, run, saved, None if users is None else log.counted)
        log.counted = b""  # it has 16 bytes for each event
        self._broken = False
        self._turn = threading.Lock()

    @classmethod
    def start(
        cls,
        recipe: PrivateLearner,
        store: str | Path | Place,
        *,
        users: str | None = None,
        reserved: Reservation | None = None,
        ranges: Sequence[PaidRanges] = (),
        options: str = "",
    ) -> "DurableRun":
        """Create a durable run with its first release; create nothing on failure.

        Args:
            recipe: The learner.
            store: A file, the address of a database (``place_of``), or another place of a journal.
            users: A word for whose events are counted; at most ``max_contributions`` of each user
                are read.
            reserved: What a budget book has reserved for the store.
            ranges: What was spent on the schema and the same data; it adds to the promise.
            options: The options of the command, stored for the owner.
        """
        ranges = require.listed(PaidRanges, ranges=ranges)
        place, form, key = place_of(store), canonical_form(recipe), secrets.token_bytes(32)
        identity, book = reserved or (secrets.token_hex(16), None)
        run = recipe.start(rng=keyed(key, label=form))
        body = release_body(run.hypothesis, run=identity, number=1, round_number=0)
        about = {"identity": identity, "recipe": form}
        about["promise"] = promise_with(recipe, users, ranges)
        about |= {} if users is None else {"users": users}
        about |= {} if book is None else {"book": book}
        about |= {"ranges": as_text(ranges)} if ranges else {}
        created = datetime.now(UTC).isoformat(timespec="seconds")
        about |= {"options": options, "created": created, "version": __version__}
        first = release_entry(Release(1, 0, body, chained(b"", body)))
        journal = place.create(sealed_about(about, key), key, first)
        return _opened(journal, lambda: cls(recipe, RunLog(journal), run))

    @classmethod
    def resume(
        cls,
        recipe: PrivateLearner | Callable[[Mapping[str, str]], PrivateLearner],
        store: str | Path | Place,
        *,
        users: str | None = None,
        adopt: bool = False,
        witness: Witness | None = None,
    ) -> "DurableRun":
        """Continue at the end of the store, after checking that it is intact.

        Args:
            recipe: The learner, or a function that builds it from what the store says about itself
                (``read_about``).
            store: The place of the store.
            users: A word for whose events are counted, as at the first start.
            adopt: Confirm that no other copy of the store was continued, if the mark is lost or the
                store is a copy.
            witness: Checks what the store has published, and raises if it must not be continued.

        Raises:
            StoreError: The store is damaged, does not follow its mark, or belongs to another
                recipe.
        """
        place = place_of(store)
        with reporting_damage(place):
            journal = place.open(adopt=adopt)
            return _opened(journal, lambda: cls._continued(journal, recipe, users, adopt, witness))

    @classmethod
    def _continued(
        cls,
        journal: Journal,
        recipe: PrivateLearner | Callable[[Mapping[str, str]], PrivateLearner],
        users: str | None,
        adopt: bool,
        witness: Witness | None,
    ) -> "DurableRun":
        about = checked_about(journal)
        found = recipe if isinstance(recipe, PrivateLearner) else recipe(about)
        _refuse_others(journal, about, canonical_form(found), users)
        log = RunLog(journal)
        if witness is not None:
            witness(log)
        adopted = journal.enter(log.rounds, adopt=adopt)
        if log.checkpoint is None:
            # A replay: the log holds the earlier events, and the store has one owner at a time.
            run = found.start(rng=keyed(log.key, label=log.about["recipe"], replay=True))
        else:
            run = found.restore(log.checkpoint.snapshot, _StoreGuards())
        durable = cls(found, log, run, adopted=adopted)
        durable._replay()
        return durable

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a DurableRun cannot be copied or pickled: two would write to one store with the same "
            "noise. Close it, and open the store where it is needed (DurableRun.resume)"
        )

    def close(self) -> None:
        """Close the store; the run accepts no more events. A forked child closes nothing.

        Any thread may close it, but not in the middle of ``take``.
        """
        if os.getpid() != self._process:  # the files, locks and connections are its parent's
            return
        # Its number of the mark's file could be that of another file before it writes there.
        if not self._turn.acquire(blocking=False):
            raise StoreError("a call of take is not done yet, and the run is open; close it later")
        try:
            self._run.retire("belongs to a store that was closed; open it again")
            self._log.close()
        finally:
            self._turn.release()

    @property
    def run(self) -> PrivateRun:
        """Return the run inside, for reading only; never feed it, and never keep it.

        Raises:
            StoreError: Its rule may not be committed: ``take`` is not done yet, or has failed.
        """
        if self._broken:  # if the commit fails, other events continue with the noise of its rule
            raise StoreError(
                "the rule of this run is not committed: a call of take is not done yet, or has "
                "failed. Read newest, or open the store again"
            )
        return self._run

    @property
    def rounds(self) -> int:
        """Return the number of rounds so far."""
        return self._rounds

    @property
    def mistakes(self) -> int:
        """Return the mistakes of the published hypotheses; for the owner, not for publication."""
        return self._feeding.mistakes

    def hindsight(self) -> Hindsight:
        """Return the best constant and the best rule on the events; as private as the labels."""
        return self._feeding.baselines.hindsight()

    def curve(self) -> list[tuple[int, int]]:
        """Return rounds and mistakes so far at a few hundred points; as private as the labels."""
        return [*self._feeding.curve, (self._rounds, self._feeding.mistakes)]

    @property
    def newest(self) -> Release:
        """Return the release in force, of what is committed."""
        return self._newest

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """Yield what was published after a number, the same bytes every time."""
        require.integer(after=after, at_least=0, at_most=2**63 - 1)
        # Another thread may ask before a commit: its noise would be used again if that fails.
        newest, found = self._newest.number, self._log.releases(after=after)
        return takewhile(lambda release: release.number <= newest, found)

    def ids_ending(self, text: str) -> list[str]:
        """Return the ids of taken events that end with the text."""
        return self._log.ids_ending(text)

    def same_content(self, events: Sequence[Event]) -> list[bool | None]:
        """Return whether each was taken with the same example and user; None if its id is new."""
        events = require.listed(Event, events=events)
        known = [self._log.find(event.id) for event in events]
        return [
            None if old is None else (old.digest, old.user) == (new.digest, new.user)
            for old, new in zip(known, self._intake.checked(events, first=1).events(), strict=True)
        ]

    def taken_as(self, events: Sequence[Event]) -> str | None:
        """Return the first id under which these examples and users were taken, one after another.

        None if they were not, or more than once: then they are alike by chance.
        """
        new = list(self._intake.checked(require.listed(Event, events=events), first=1).events())
        known = self._log.only_run(b"".join(each.digest for each in new))
        alike = [each.user for each in known] == [each.user for each in new]
        return known[0].id if known and alike else None

    def take(
        self, events: Sequence[Event], publish: Callable[[Release], None] | None = None
    ) -> list[Receipt]:
        """Take a group of events in one commit; then publish, then acknowledge.

        An id that was taken before gets its earlier receipt and changes nothing; with another
        example it is an error. Bad input is rejected before anything changes.
        """
        # Of two groups with the same rounds one would be in the learner and not in the log.
        if not self._turn.acquire(blocking=False):
            raise StoreError(
                "another call of take is not done yet, and nothing of this group was taken; "
                "use a lock where threads share a run"
            )
        try:
            return self._taken(events, publish)
        finally:
            self._turn.release()

    def _taken(
        self, events: Sequence[Event], publish: Callable[[Release], None] | None
    ) -> list[Receipt]:
        if self._broken:
            raise StoreError(
                "an earlier error left this run in an unknown state; open the store again"
            )
        if type(events) is not EventBlock and (
            type(events) is not list or set(map(type, events)) - _EVENTS
        ):
            events = require.listed(Event, events=events)
        taken = self._intake.checked(events, first=self._rounds + 1)
        known: dict[str, Receipt] = {}
        hashes = self._log.hashes_if_new(taken.ids)
        if hashes is None:
            taken, known = self._without_repeats(taken)
            hashes = self._log.hashes_if_new(taken.ids)
        limit = self._recipe.rounds
        if limit is not None and self._rounds + len(taken.ids) > limit:
            raise HorizonExceededError(rounds=limit)
        if not taken.ids or hashes is None:
            return self._receipts(events, {}, known)
        new = self._commit(taken, hashes, publish)
        if not known and len(new) == len(events):
            return new
        return self._receipts(events, dict(zip(taken.ids, new, strict=True)), known)

    def _without_repeats(self, taken: Group) -> tuple[Group, dict[str, Receipt]]:
        """Return the new events, numbered without gaps, and the receipts of the others."""
        known: dict[str, Receipt] = {}
        fresh: dict[str, Taken] = {}
        places = list[int]()
        for place, event in enumerate(taken.events()):
            earlier = fresh.get(event.id) or self._log.find(event.id)
            if earlier is None:
                fresh[event.id] = event._replace(round=self._rounds + 1 + len(fresh))
                places.append(place)
            elif (earlier.digest, earlier.user) != (event.digest, event.user):
                what = "example" if earlier.digest != event.digest else "user"
                raise DifferentContentError(
                    f"event {event.id!r} was taken in round {earlier.round} with another {what}; "
                    f"nothing of this group was taken"
                )
            elif event.id not in fresh:
                number = self._log.number_at(earlier.round)
                known[event.id] = Receipt(earlier.round, number, repeated=True)
        return taken.at(places), known

    def _commit(
        self, fresh: Group, hashes: bytes, publish: Callable[[Release], None] | None
    ) -> list[Receipt]:
        """Learn from new events, log them with the results, and then publish the results."""
        if fresh.points is None:  # what is stored may be refused, too, while nothing has changed
            (fresh,) = self._feeding.with_examples([fresh])
        self._broken = True  # until it is committed
        releases: list[Release] = []
        receipts: list[Receipt] = []
        feeding = self._feeding
        over_limit = feeding.over_limit(fresh) if self._counts else _NONE
        for first, last in feeding.fed(fresh, over_limit):
            before, self._rounds = self._rounds, fresh.first + last - 1
            if last - first > 1:
                taken = range(before + 1, self._rounds)
                receipts += _receipts(taken, self._last.number)
            if feeding.published is not self._published and self._changed():
                releases.append(self._released())
            receipts.append(Receipt(self._rounds, self._last.number))
        if over_limit:
            receipts = [
                each._replace(over_limit=True) if each.round in over_limit else each
                for each in receipts
            ]
        saved = self._saved() if self._rounds >= self._due else None
        self._log.append(fresh, hashes, releases, feeding.mistakes, saved)
        self._newest, self._broken = self._last, False
        if publish is not None:
            for release in releases:
                publish(release)
        return receipts

    def _saved(self) -> Checkpoint:
        snapshot, feeding = self._run.snapshot(), self._feeding
        self._due = _next_checkpoint(self._rounds, len(snapshot))
        baselines = feeding.baselines.state()
        return Checkpoint(self._rounds, feeding.mistakes, feeding.curve, snapshot, baselines)

    def _changed(self) -> bool:
        newest, before = self._feeding.published, self._published
        self._published = newest
        return newest is not before and newest != before

    def _receipts(
        self, events: Sequence[Event], new: dict[str, Receipt], known: dict[str, Receipt]
    ) -> list[Receipt]:
        receipts = []
        answered = set[str]()
        for event in events:
            receipt = known.get(event.id) or new[event.id]
            # A repeated id within the group gets the same receipt, marked as repeated.
            receipts.append(receipt._replace(repeated=True) if event.id in answered else receipt)
            answered.add(event.id)
        return receipts

    def _released(self) -> Release:
        """Build the release of the hypothesis in force."""
        number = self._last.number + 1
        body = release_body(
            self._published, run=self.identity, number=number, round_number=self._rounds
        )
        self._last = Release(number, self._rounds, body, chained(self._last.chain, body))
        return self._last

    def _replay(self) -> None:
        """Feed the events after the checkpoint again; the results must equal the log."""
        saved = self._log.checkpoint
        in_force = self._log.release_at(0 if saved is None else saved.round)
        self._compare(in_force, in_force.round)
        logged = self._log.releases(after=in_force.number)
        for group in self._feeding.with_examples(self._log.missing):
            for _, last in self._feeding.fed(group, self._feeding.over_limit(group)):
                if self._changed():
                    self._compare(next(logged, None), group.first + last - 1)
        if next(logged, None) is not None or self._run.rounds_played != self._rounds:
            self._compare(None, self._rounds)
        if self._feeding.mistakes != self._log.mistakes:
            raise StoreError(
                f"{self._log} is damaged: its number of mistakes does not match. {RESTORE}"
            )
        self._log.missing.clear()

    def _compare(self, known: Release | None, round_number: int) -> None:
        number = 0 if known is None else known.number
        body = release_body(
            self._published, run=self.identity, number=number, round_number=round_number
        )
        if known is None or body != known.body:
            raise StoreError(
                f"replaying {self._log} gave a release in round {round_number} that differs from "
                f"the log; the store or the library has changed. {RESTORE}"
            )


def _receipts(rounds: range, release: int) -> Iterator[Receipt]:
    """Return the receipts of rounds with the same release, quickly: there is one for each event."""
    return map(_receipt, zip(rounds, repeat(release), repeat(False), repeat(False)))


_receipt: Final = partial(tuple.__new__, Receipt)


def _next_checkpoint(last: int, size: int) -> int:
    """Return the round of the next checkpoint: large states are saved less often."""
    return last + CHECKPOINT_EVERY * (1 + min(size >> _MEGABYTE, 2))


def _opened(journal: Journal, run: Callable[[], DurableRun]) -> DurableRun:
    try:
        return run()
    except BaseException:
        journal.close()
        raise


def _refuse_others(log: Journal, about: Mapping[str, str], recipe: str, users: str | None) -> None:
    """Reject a store of another recipe, or of other users."""
    if about["recipe"] != recipe:
        raise StoreError(
            f"{log} belongs to another recipe: {about['recipe']}, not {recipe}. Use the same "
            f"arguments as at the first start, or another store (and another budget)"
        )
    if (known := about.get("users")) != users:
        counts = "counts no users" if known is None else f"counts events by {known!r}"
        wanted = "none" if users is None else f"{users!r}"
        raise StoreError(
            f"{log} {counts}, as it promises, not {wanted}. Give the same --user as at the first "
            f"start, or use another store (and another budget)"
        )
