"""What every journal of a durable run must stand: kills, rollbacks, damage and duplicates.

``CHECKS`` has the checks by name; each takes a ``Bench``, which makes places of the journal under
test and does to them what operators, disks and thieves do. CONTRIBUTING.md, "A journal of your
own", says how to put one here.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Final, Protocol

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import RollbackError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs import durable
from littlestone.runs.durable import DifferentContentError, DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal.protocol import KINDS, RELEASES, Entry, Journal, Place, Reading
from littlestone.runs.journal.records import Release
from littlestone.runs.journal.run_log import read_about, read_log, read_progress

RECIPE: Final = PrivateMajority(concepts=Thresholds(16), rounds=200, epsilon=50.0)
EVENTS: Final = [Event(f"e{i}", i % 16, int(i % 16 >= 5)) for i in range(60)]
ABOUT: Final = {"identity": "0" * 32, "words": "ä\n"}
FIRST: Final = Entry(RELEASES, 1, b"first")


class Bench(Protocol):
    """Makes places, and does to them what may happen."""

    def place(self) -> Place:
        """A new one, where there is nothing yet."""

    def copied(self, place: Any) -> Any:
        """The journal as it is, without its mark: a backup."""

    def put_back(self, place: Any, copy: Any) -> None:
        """The backup in place of the journal; the mark stays as it is."""

    def lose_mark(self, place: Any) -> None: ...

    def alter(
        self, place: Any, kind: str, number: int, change: Callable[[bytes], bytes | None]
    ) -> None:
        """Replace an entry behind the journal's back; None deletes it."""

    def alter_about(self, place: Any, name: str, value: str) -> None: ...

    def abandon(self, journal: Any) -> None:
        """What the system does when the process of a journal is killed; nothing is flushed."""


def stored(reading: Reading) -> dict[str, list[tuple[int, bytes]]]:
    return {kind: [(n, bytes(body)) for n, body in reading.read(kind)] for kind in KINDS}


@contextmanager
def opened(place: Place) -> Iterator[Journal]:
    journal = place.open()
    try:
        yield journal
    finally:
        journal.close()


def taken(place: Place, events: Sequence[Event], *, group: int = 4, **options: Any) -> None:
    """Open the run or begin it, and take events."""
    start: Any = DurableRun.resume if place.exists() else DurableRun.start
    run = start(RECIPE, place, **options)
    try:
        for first in range(0, len(events), group):
            run.take(events[first : first + group])
    finally:
        run.close()


def it_gives_back_what_was_written(bench: Bench) -> None:
    place = bench.place()
    assert not place.exists()
    journal = place.create(ABOUT, b"k" * 32, FIRST)
    large = bytes(range(256)) * 4096
    journal.write(
        [Entry("blocks", 7, large), Entry("groups", 2**40, b""), Entry("groups", 3, b"\0x")],
        round_number=7,
    )
    journal.write([Entry("groups", 2**40 + 1, b"g"), Entry("releases", 2, b"r")], round_number=8)
    expected = {
        "groups": [(3, b"\0x"), (2**40, b""), (2**40 + 1, b"g")],
        "blocks": [(7, large)],
        "releases": [(1, b"first"), (2, b"r")],
        "checkpoints": [],
    }
    for reading in (journal, None):
        if reading is None:
            journal.close()
            assert place.exists()
            reading = journal = place.open()
        assert isinstance(journal, Journal) and isinstance(place, Place)
        assert stored(reading) == expected and journal.key == b"k" * 32
        assert {**reading.about(), **ABOUT} == reading.about()
        assert [n for n, _ in reading.read("groups", after=3)] == [2**40, 2**40 + 1]
        assert reading.last("releases") == (2, b"r") and reading.last("checkpoints") is None
        assert reading.get("blocks", 7) == large and reading.get("blocks", 6) is None
    journal.close()
    journal.close()  # nothing happens
    with place.look() as looked:
        assert stored(looked) == expected


def it_drops_what_it_is_told_to(bench: Bench) -> None:
    place = bench.place()
    journal = place.create(ABOUT, bytes(32), FIRST)
    journal.write([Entry("groups", n, b"g") for n in range(1, 6)], round_number=5)
    journal.write([Entry("checkpoints", 5, b"c")], drop=[("groups", 4)], round_number=5)
    journal.write(
        [Entry("checkpoints", 6, b"d")], drop=[("checkpoints", 5), ("groups", 5)], round_number=6
    )
    journal.close()
    with opened(place) as journal:
        expected = {"groups": [], "blocks": [], "releases": [(1, b"first")]}
        assert stored(journal) == {**expected, "checkpoints": [(6, b"d")]}


def it_writes_all_or_nothing(bench: Bench) -> None:
    """A write that is refused leaves nothing, also of the entries before the bad one."""
    place = bench.place()
    journal = place.create(ABOUT, bytes(32), FIRST)
    journal.write([Entry("groups", 4, b"g")], round_number=4)
    with pytest.raises(StoreError):
        journal.write(
            [Entry("groups", 8, b"h"), Entry("releases", 1, b"again")],
            drop=[("groups", 4)],
            round_number=8,
        )
    journal.close()
    with opened(place) as journal:
        assert stored(journal)["groups"] == [(4, b"g")]
        assert stored(journal)["releases"] == [(1, b"first")]
        assert journal.enter(4, adopt=False) is False  # its mark has not moved, either


def it_lets_one_in_at_a_time(bench: Bench) -> None:
    place = bench.place()
    journal = place.create(ABOUT, bytes(32), FIRST)
    with pytest.raises(StoreError):
        place.open()
    with pytest.raises(StoreError):
        place.create(ABOUT, bytes(32), FIRST)
    with place.look() as looked:  # while it is in use
        assert stored(looked)["releases"] == [(1, b"first")]
    journal.close()
    with opened(place):
        pass


def a_writer_that_was_replaced_is_refused(bench: Bench) -> None:
    """Its lock was lost, and another one has gone on: it must not write any more."""
    place = bench.place()
    old = place.create(ABOUT, bytes(32), FIRST)
    bench.abandon(old)
    with opened(place) as journal:
        journal.enter(0, adopt=False)
        journal.write([Entry("groups", 1, b"mine")], round_number=1)
    with suppress(StoreError, OSError, ValueError):  # of a connection that is closed, say
        old.write([Entry("groups", 2, b"old")], round_number=2)
    with opened(place) as journal:
        assert stored(journal)["groups"] == [(1, b"mine")]


def what_is_gone_is_not_begun_anew(bench: Bench) -> None:
    place = bench.place()
    nothing = bench.copied(place)
    taken(place, EVENTS[:4])
    bench.put_back(place, nothing)
    with pytest.raises(StoreError):
        taken(place, EVENTS[:4])


def runs_go_on_where_they_were(bench: Bench) -> None:
    place = bench.place()
    for first in range(0, len(EVENTS), 7):
        taken(place, EVENTS[max(0, first - 3) : first + 7], group=3)
    run = DurableRun.resume(RECIPE, place)
    receipts = run.take(EVENTS)
    assert [receipt.round for receipt in receipts] == list(range(1, len(EVENTS) + 1))
    assert all(receipt.repeated for receipt in receipts) and run.newest.number > 1
    releases, curve, identity = list(run.releases()), run.curve(), run.identity
    assert releases[-1] == run.newest and curve[-1] == (len(EVENTS), run.mistakes)
    run.close()
    log = read_log(place)
    assert (log.identity, log.releases) == (identity, releases)
    assert read_about(place)["identity"] == identity
    assert read_progress(place) == curve[-1]


def duplicates_are_known(bench: Bench) -> None:
    """Of this opening, of an earlier one, of before and after a checkpoint."""
    place = bench.place()
    taken(place, EVENTS[:30])
    run = DurableRun.resume(RECIPE, place)
    run.take(EVENTS[30:34])
    for event in (EVENTS[0], EVENTS[13], EVENTS[29], EVENTS[33]):
        (receipt,) = run.take([event])
        assert receipt.repeated and receipt.round == EVENTS.index(event) + 1
        with pytest.raises(DifferentContentError):
            run.take([EVENTS[40], event._replace(y=1 - event.y)])
    assert run.rounds == 34 and run.ids_ending("e1") == ["e1"]
    run.close()


class _Killed(BaseException):
    """The process is gone."""


class _Mortal:
    """A place whose process dies before or after its write number ``left``."""

    def __init__(self, place: Place, left: int, *, before: bool) -> None:
        self._place, self._left, self._before = place, left, before
        self.journal: Journal | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    def __str__(self) -> str:
        return str(self._place)

    def exists(self) -> bool:
        return self._place.exists()

    def look(self) -> Any:
        return self._place.look()

    def create(self, *arguments: Any) -> Journal:
        return self._mortal(self._place.create(*arguments))

    def open(self, *, adopt: bool = False) -> Journal:
        return self._mortal(self._place.open(adopt=adopt))

    def _mortal(self, journal: Journal) -> Journal:
        self.journal, write = journal, journal.write

        def dying(*arguments: Any, **options: Any) -> None:
            self._left -= 1
            if self._left == 0 and self._before:
                raise _Killed
            write(*arguments, **options)
            if self._left == 0:
                raise _Killed

        journal.write = dying  # type: ignore[method-assign]
        journal.close = lambda: None  # type: ignore[method-assign]
        return journal


def kills_lose_nothing(bench: Bench) -> None:
    """Killed before and after each write in turn: each event once, and no release changes."""
    for before in (True, False):
        place, published = bench.place(), dict[int, Release]()

        def publish(release: Release, published: Any = published) -> None:
            assert published.setdefault(release.number, release) == release

        for point in count(1):
            mortal = _Mortal(place, 1 + point % 3, before=before)
            start: Any = DurableRun.resume if place.exists() else DurableRun.start
            run = start(RECIPE, mortal)
            for release in run.releases():
                publish(release)
            done = run.rounds == len(EVENTS)
            with suppress(_Killed):
                for first in range(max(0, run.rounds - 5), len(EVENTS), 3):
                    run.take(EVENTS[first : first + 3], publish)
            run._run.retire("was killed")
            assert mortal.journal is not None
            bench.abandon(mortal.journal)
            if done:
                break
            assert point < 200
        assert [published[n] for n in sorted(published)] == read_log(place).releases
        assert read_progress(place)[0] == len(EVENTS)


def an_old_copy_is_refused(bench: Bench) -> None:
    for rest in (EVENTS[20:21], EVENTS[20:]):
        place = bench.place()
        taken(place, EVENTS[:20])
        copy = bench.copied(place)
        taken(place, rest)
        bench.put_back(place, copy)
        for adopt in (False, True):
            with pytest.raises(RollbackError):
                DurableRun.resume(RECIPE, place, adopt=adopt)


def a_copy_that_was_opened_alone_is_refused(bench: Bench) -> None:
    """Not even a round was played: each opening is a branch of its own."""
    place = bench.place()
    taken(place, EVENTS[:20])
    copy = bench.copied(place)
    taken(place, [])
    bench.put_back(place, copy)
    with pytest.raises(RollbackError):
        DurableRun.resume(RECIPE, place)


def a_lost_mark_needs_somebodys_word(bench: Bench) -> None:
    place = bench.place()
    taken(place, EVENTS[:20])
    bench.lose_mark(place)
    for _ in range(2):
        with pytest.raises(StoreError):
            DurableRun.resume(RECIPE, place)
    run = DurableRun.resume(RECIPE, place, adopt=True)
    assert run.adopted and run.rounds == 20
    run.close()
    run = DurableRun.resume(RECIPE, place)
    assert not run.adopted
    run.close()


def damage_is_noticed(bench: Bench) -> None:
    place = bench.place()
    taken(place, EVENTS)
    with place.look() as looked:
        entries = stored(looked)
    assert all(entries.values()) and len(entries["groups"]) > 1
    for kind, known in entries.items():
        for number, body in known:
            flips = {0, len(body) // 3, len(body) // 2, len(body) - 1}
            harms: list[bytes | None] = [None, body[:-1], body + b"\0", b"", known[0][1] + b"x"]
            harms += [body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :] for at in sorted(flips)]
            harms += [other for _, other in known if other != body][:1]
            for harm in harms:
                bench.alter(place, kind, number, _always(harm))
                with pytest.raises(StoreError):
                    DurableRun.resume(RECIPE, place)
                bench.alter(place, kind, number, _always(body))
    bench.alter_about(place, "promise", "nothing")
    with pytest.raises(StoreError):
        DurableRun.resume(RECIPE, place)


def _always(body: bytes | None) -> Callable[[bytes], bytes | None]:
    return lambda _: body


CHECKS: Final[dict[str, Callable[[Bench], None]]] = {
    check.__name__: check
    for check in (
        it_gives_back_what_was_written,
        it_drops_what_it_is_told_to,
        it_writes_all_or_nothing,
        it_lets_one_in_at_a_time,
        a_writer_that_was_replaced_is_refused,
        what_is_gone_is_not_begun_anew,
        runs_go_on_where_they_were,
        duplicates_are_known,
        kills_lose_nothing,
        an_old_copy_is_refused,
        a_copy_that_was_opened_alone_is_refused,
        a_lost_mark_needs_somebodys_word,
        damage_is_noticed,
    )
}


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """To be imported by whoever runs the checks."""
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 22)
