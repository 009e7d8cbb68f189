"""Whoever is killed while a store is created and entered in a book: one entry, one store.

``learn --book`` is killed before each of its file-changing system calls, and half-way through each
of its writes. Then its owner does what owners do: runs it again, moves what is left, copies it.
``make book`` does all of it and prints the counts.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.kill_points import available, killed_at
from typer.testing import CliRunner

from littlestone.cli.main import app, main
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book, enter
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.journal.run_log import read_log, read_progress

pytestmark = pytest.mark.skipif(not available(), reason="no process can be traced here")

ROWS = "x,y\n3,1\n9,0\n4,1\n"
WORDS = (
    *("events.csv", "--class", "thresholds:16", "--feature", "x", "--label", "y"),
    *("--rounds", "50", "--learner", "private-majority"),
)
RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=50, epsilon=1.0)
ROOM = PrivacyGuarantee(epsilon=2.0)  # for two stores
OLD, NEW = "run.db", "moved.db"


def by_command(store: str, *more: str) -> None:
    """``littlestone learn`` in this process, which ends with it."""
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        sys.argv = ["littlestone", "learn", *WORDS, "--book", "book", "--store", store, *more]
        main()


def by_hand(store: str, *more: str) -> None:
    """What ``learn`` does with its store and its book, and nothing else: it takes less time."""
    book, path = Book("book"), Path(store)
    if path.exists():
        run = DurableRun.resume(RECIPE, path, adopt=bool(more))
        enter(book, run, path)
    else:
        with book.reserved(path, RECIPE.guarantee(), RECIPE.promise) as reserved:
            run = DurableRun.start(RECIPE, path, reserved=reserved)
            enter(book, run, path)
    run.take([Event(f"e{number}", number, 1) for number in range(3)])
    run.close()


Way = Callable[..., None]
Afterwards = Callable[[Way], list[str]]
"""What its owner does; which stores went on."""


def learned(way: Way, *words: str) -> bool:
    """In a process of its own, which nobody kills; whether it went well."""
    child = os.fork()
    if child == 0:
        try:
            way(*words)
        except SystemExit as end:
            os._exit(int(end.code or 0))
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def left(*, mark: bool = True) -> list[str]:
    """The store, and what lies beside it."""
    found = [name for name in os.listdir() if name.startswith(OLD)]
    return [name for name in found if mark or not name.endswith(".mark")]


def gone_on(way: Way, *stores: str, adopt: bool = False) -> list[str]:
    """Those of the stores that go on, or begin at the old place, one after the other."""
    words = ["--adopt"] if adopt else []
    made = (store for store in stores if store == OLD or Path(store).exists())
    return [store for store in made if learned(way, store, *words)]


def again(way: Way) -> list[str]:
    stores = gone_on(way, OLD) or gone_on(way, OLD, adopt=True)  # half of a mark is none
    [entry] = Book("book").entries()
    assert stores and entry.opened and read_progress(OLD)[0] == 3
    return stores


def moved_then_again(way: Way) -> list[str]:
    for name in left():
        os.rename(name, name.replace(OLD, NEW))
    stores = gone_on(way, OLD, NEW)
    assert OLD in stores
    return stores


def moved_and_gone_on_with_then_again(way: Way) -> list[str]:
    for name in left():
        os.rename(name, name.replace(OLD, NEW))
    stores = gone_on(way, NEW, OLD)
    assert OLD in stores
    return stores


def moved_without_its_mark_then_again(way: Way) -> list[str]:
    for name in left(mark=False):
        os.rename(name, name.replace(OLD, NEW))
    return gone_on(way, OLD) + gone_on(way, NEW, adopt=True)


def copied_then_again(way: Way) -> list[str]:
    for name in left():
        shutil.copy(name, name.replace(OLD, NEW))
    return gone_on(way, OLD, NEW)


AFTERWARDS = (
    again,
    moved_then_again,
    moved_and_gone_on_with_then_again,
    moved_without_its_mark_then_again,
    copied_then_again,
)


def two_on_one_entry(stores: Sequence[str]) -> bool:
    """Whether one of the stores that went on has no entry, or that of another one."""
    names = [read_log(store).identity for store in stores]
    entered = [entry.identity for entry in Book("book").entries() if entry.opened]
    return len({*names}) < len(names) or not {*names} <= {*entered}


def killed_everywhere(
    way: Way, afterwards: Afterwards, *, torn: bool, every: int
) -> Iterator[tuple[int, str, bool]]:
    """Each call before or within which it was killed, and whether that made two of one."""
    for point in count(1, every):
        with TemporaryDirectory(dir=Path.cwd()) as place, chdir(place):
            Path("events.csv").write_text(ROWS)
            Book.create("book", allowance=ROOM)
            call = killed_at(partial(way, OLD), point, torn=torn)
            if call is None:
                return
            yield point, call, two_on_one_entry(afterwards(way))


def check(way: Way, afterwards: Afterwards, torn: bool, every: int = 1) -> None:
    found = list(killed_everywhere(way, afterwards, torn=torn, every=every))
    assert {call for _, call, _ in found} >= ({"pwrite64"} if torn else {"pwrite64", "rename"})
    bad = [point for point, _, twice in found if twice]
    print(f"{len(found)} kill points, and two stores on one entry after {len(bad)}: {bad}")
    assert every * len(found) > 50 and not bad


@pytest.fixture(autouse=True)
def folder(folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_in_memory)


both = pytest.mark.parametrize("torn", [False, True], ids=["whole", "torn"])


@both
def test_no_kill_leaves_two_stores_on_one_entry(torn: bool) -> None:
    check(by_hand, moved_then_again, torn, every=10)


@pytest.mark.slow
@both
@pytest.mark.parametrize("afterwards", AFTERWARDS)
def test_no_kill_of_the_command_leaves_two_stores_on_one_entry(
    torn: bool, afterwards: Afterwards
) -> None:
    Path("events.csv").write_text(ROWS)
    made = CliRunner().invoke(app, ["learn", *WORDS, "--store", "warm"])  # imports, plans
    assert made.exit_code == 0
    check(by_command, afterwards, torn)


FLEET = (
    *("fleet", "spark", "init", "fleet", "--secret", "secret", "--book", "book"),
    *("--class", "thresholds:16", "--rounds", "50", "--setting", "realizable"),
)


def a_fleet() -> None:
    """``littlestone fleet spark init`` in this process: it needs no Spark."""
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        sys.argv = ["littlestone", *FLEET]
        main()


@pytest.mark.parametrize(
    ("torn", "every"),
    [(False, 3), pytest.param(False, 1, marks=pytest.mark.slow), (True, 1)],
    ids=["whole, some", "whole, all", "torn"],
)
def test_no_kill_leaves_a_fleet_that_can_work_and_no_book_knows(torn: bool, every: int) -> None:
    """Who works needs the secret; with it and ``--adopt`` nobody asks a book."""
    Book.create("book", allowance=ROOM)
    assert CliRunner().invoke(app, FLEET).exit_code == 0  # imports, plans
    for name in ("book", "secret", "secret.mark", "fleet"):
        shutil.rmtree(name) if Path(name).is_dir() else os.unlink(name)
    calls, usable = list[str](), 0
    for point in count(1, every):
        with TemporaryDirectory(dir=Path.cwd()) as place, chdir(place):
            Book.create("book", allowance=ROOM)
            call = killed_at(a_fleet, point, torn=torn)
            if call is None:
                break
            calls.append(call)
            entries = Book("book").entries()
            if Path("secret").exists():
                usable += 1
                assert [entry.opened for entry in entries] == [True], (point, call)
            elif any(not entry.opened for entry in entries):
                Book("book").give_back("secret")
    print(f"{len(calls)} kill points, and after {usable} of them a fleet that can work")
    assert every * len(calls) > (4 if torn else 15) and usable
