"""A book keeps all stores of a source within what was allowed, whatever crashes."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import BudgetExceededError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.service.durable import DurableRun
from littlestone.service.promises.book import Book

ONE, HALF = PrivacyGuarantee(epsilon=1.0), PrivacyGuarantee(epsilon=0.5)
RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=50, epsilon=1.0)


@pytest.fixture
def book(folder_in_memory: Path) -> Book:
    allowance = PrivacyGuarantee(epsilon=2.0, delta=1e-6)
    return Book.create(folder_in_memory / "book", allowance=allowance)


def test_promises_add_up_and_what_exceeds_the_allowance_is_refused(book: Book) -> None:
    book.reserve("a", ONE, "one")
    book.reserve("b", PrivacyGuarantee(epsilon=0.5, delta=1e-6), "half")
    for much in (ONE, PrivacyGuarantee(epsilon=0.1, delta=1e-12), NOT_PRIVATE):
        with pytest.raises(BudgetExceededError, match="nothing was created") as refusal:
            book.reserve("c", much, "too much")
        assert refusal.value.spent == PrivacyGuarantee(epsilon=1.5, delta=1e-6)
    book.reserve("c", HALF, "half")
    assert book.total() == book.allowance
    assert Book(book.path).entries() == book.entries()


def test_sums_are_exact(folder_in_memory: Path) -> None:
    """The float 0.1 lies above one tenth: ten of them are more than 1."""
    book = Book.create(folder_in_memory / "tenths", allowance=ONE)
    for number in range(9):
        book.reserve(f"s{number}", PrivacyGuarantee(epsilon=0.1), "a tenth")
    with pytest.raises(BudgetExceededError):
        book.reserve("last", PrivacyGuarantee(epsilon=0.1), "a tenth")


def test_a_known_store_costs_nothing_again(book: Book) -> None:
    reserved = book.reserve("a", ONE, "one")
    for _ in range(5):
        book.register(reserved.identity, "a", ONE, "one")
        book.register(reserved.identity, "moved", ONE, "one")
    assert book.total() == ONE
    book.register("another", "a", ONE, "one")
    assert book.total() == PrivacyGuarantee(epsilon=2.0)


def test_a_known_store_that_promises_more_now_is_refused(book: Book) -> None:
    reserved = book.reserve("a", HALF, "half")
    for more in (ONE, PrivacyGuarantee(epsilon=0.5, delta=1e-9)):
        with pytest.raises(StoreError, match=r"entered in .* its recipe was altered"):
            book.register(reserved.identity, "a", more, "more")
    book.register(reserved.identity, "a", HALF, "half")
    assert book.total() == HALF


def test_a_reservation_is_seen_and_taken_up_by_the_same_store_only(book: Book) -> None:
    reserved = book.reserve("a", HALF, "half")
    assert [entry.opened for entry in book.entries()] == [False]
    assert book.reserve("a", HALF, "half") == reserved  # it had crashed before it was created
    assert book.reserve("b", HALF, "half") != reserved
    book.register(reserved.identity, "a", HALF, "half")
    assert book.reserve("a", HALF, "half") != reserved  # that one exists, or was removed


def test_what_was_reserved_can_be_given_back_and_what_was_opened_cannot(book: Book) -> None:
    first, kept = book.reserve("a", ONE, "one"), book.reserve("b", HALF, "half")
    book.register(kept.identity, "b", HALF, "half")
    assert [entry.identity for entry in book.give_back("a")] == [first.identity]
    for store in ("a", "b", "c"):
        with pytest.raises(StoreError, match="no reservation"):
            book.give_back(store)
    assert book.total() == HALF
    with pytest.raises(StoreError, match="given back"):  # it was made meanwhile, and reads nothing
        book.register(first.identity, "a", ONE, "one")
    again = book.reserve("a", ONE, "one")
    assert again != first and book.total() == PrivacyGuarantee(epsilon=1.5)
    assert Book(book.path).entries() == book.entries()
    with sqlite3.connect(book.path) as connection:  # the line that says so is covered by its hash
        connection.execute("UPDATE entries SET identity = 'another' WHERE number = 3")
    connection.close()
    with pytest.raises(StoreError):
        Book(book.path)


def test_what_was_reserved_for_something_that_exists_is_not_given_back(
    book: Book, tmp_path: Path
) -> None:
    place = tmp_path / "fleet.secret"  # of a fleet whose making was killed before it was entered
    reserved = book.reserve(place, ONE, "one")
    place.touch()
    with pytest.raises(StoreError, match="must be deleted before"):
        book.give_back(place)
    assert book.total() == ONE
    place.unlink()
    assert [entry.identity for entry in book.give_back(place)] == [reserved.identity]


def test_of_many_at_once_as_many_get_in_as_fit(book: Book) -> None:
    children = []
    for number in range(12):
        child = os.fork()
        if child == 0:
            status = 2
            try:
                Book(book.path).reserve(f"s{number}", HALF, "half")
                status = 0
            except BudgetExceededError:
                status = 1
            finally:
                os._exit(status)
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(ends) == [0] * 4 + [1] * 8
    assert book.total().epsilon == 2.0


def test_squares_add_up_in_a_concentrated_book(folder_in_memory: Path) -> None:
    allowance = PrivacyGuarantee(epsilon=2.0, delta=1e-6)
    book = Book.create(
        folder_in_memory / "squares", allowance=allowance, composition="concentrated"
    )
    small, count = PrivacyGuarantee(epsilon=0.1), 0
    with pytest.raises(BudgetExceededError):
        for count in range(100):
            book.reserve(f"s{count}", small, "a tenth")
    assert 17 <= count <= 18  # rho = 0.0900 in all, 0.005 each; the plain sum would allow 19
    assert book.total().within(allowance) and book.total().delta == 1e-6
    with pytest.raises(StoreError, match="without delta"):
        book.reserve("d", PrivacyGuarantee(epsilon=1e-3, delta=1e-9), "some")


def test_only_the_owner_may_read_it(book: Book) -> None:
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    assert [path.name for path in book.path.parent.iterdir()] == ["book"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET epsilon = '0.1' WHERE number = 1",
        "DELETE FROM entries WHERE number = 1",
        "UPDATE about SET value = '200.0' WHERE name = 'epsilon'",
        "DELETE FROM about WHERE name = 'delta'",
        "DROP TABLE entries",
    ],
)
def test_what_is_altered_is_noticed(book: Book, change: str) -> None:
    book.reserve("a", HALF, "half")
    book.reserve("b", HALF, "half")
    with sqlite3.connect(book.path) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(StoreError):
        Book(book.path)


def test_what_is_no_book_is_refused(book: Book) -> None:
    other = book.path.with_name("other")
    with pytest.raises(StoreError, match="there is no book"):
        Book(other)
    other.write_text("hello" * 100)
    with pytest.raises(StoreError, match="not a littlestone budget book"):
        Book(other)
    for taken in (other, book.path):
        before = taken.read_bytes()
        with pytest.raises(StoreError, match="exists already"):
            Book.create(taken, allowance=ONE)
        assert taken.read_bytes() == before


@pytest.mark.parametrize(
    ("allowance", "composition"),
    [(NOT_PRIVATE, "basic"), (ONE, "concentrated"), (ONE, "optimal")],
)
def test_an_allowance_that_bounds_nothing_is_refused(
    folder_in_memory: Path, allowance: PrivacyGuarantee, composition: str
) -> None:
    with pytest.raises(ValueError):
        Book.create(folder_in_memory / "new", allowance=allowance, composition=composition)
    assert not list(folder_in_memory.iterdir())


def test_a_store_is_what_was_reserved(book: Book, folder_in_memory: Path) -> None:
    store = folder_in_memory / "run.db"
    reserved = book.reserve(store, RECIPE.guarantee(), RECIPE.promise)
    run = DurableRun.start(RECIPE, store, reserved=reserved)
    run.close()
    again = DurableRun.resume(RECIPE, store)
    assert (again.identity, again.book) == (reserved.identity, str(book.path))
    again.close()
