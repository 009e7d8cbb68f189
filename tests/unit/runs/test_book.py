"""A book keeps all stores of a source within what was allowed, whatever crashes."""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import BudgetExceededError, InUseError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.runs.book import Book
from littlestone.runs.durable import DurableRun

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


def test_a_reservation_is_seen_and_makes_room_for_the_next_at_the_same_place(book: Book) -> None:
    left = book.reserve("a", HALF, "half")
    assert [entry.opened for entry in book.entries()] == [False]
    again = book.reserve("a", ONE, "one")  # the first one was killed before it was entered
    assert again.identity != left.identity and book.total() == ONE
    assert book.reserve("b", HALF, "half").identity != again.identity
    book.register(again.identity, "a", ONE, "one")
    with pytest.raises(BudgetExceededError):
        book.reserve("a", ONE, "one")  # that one exists, or was removed: it has its entry for ever
    assert book.total() == PrivacyGuarantee(epsilon=1.5)


def test_a_store_whose_reservation_was_replaced_is_added_when_it_is_entered(book: Book) -> None:
    moved = book.reserve("a", ONE, "one")  # its store is created, moved away, and not entered
    again = book.reserve("a", ONE, "one")
    book.register(again.identity, "a", ONE, "one")
    for _ in range(2):
        book.register(moved.identity, "elsewhere", ONE, "one")
    assert book.total() == PrivacyGuarantee(epsilon=2.0)
    third = book.reserve("c", PrivacyGuarantee(epsilon=0.0), "nothing")
    book.give_back("c")
    with pytest.raises(BudgetExceededError):
        book.register(third.identity, "c", ONE, "one")


def test_of_two_that_start_together_the_one_that_is_made_is_entered(book: Book) -> None:
    """Both have reserved before one of them made the store: the other has no claim to the room."""
    made, other = (book.reserve("a", PrivacyGuarantee(epsilon=2.0), "all") for _ in range(2))
    book.register(made.identity, "a", PrivacyGuarantee(epsilon=2.0), "all")
    assert [(entry.identity, entry.opened) for entry in book.entries()] == [(made.identity, True)]
    with pytest.raises(BudgetExceededError):
        book.register(other.identity, "a", PrivacyGuarantee(epsilon=2.0), "all")


def test_what_else_is_entered_for_a_place_leaves_its_reservation(book: Book) -> None:
    reserved = book.reserve("a", ONE, "one")
    for _ in range(2):  # the second time it is there
        book.note("what its owner said", "a", "adopted")
    assert [entry.state for entry in book.entries()] == ["reserved", "noted"]
    assert "is promised to 1 store (" in book.explain()
    with pytest.raises(BudgetExceededError, match=r"\(1 in all\)"):
        book.reserve("b", PrivacyGuarantee(epsilon=100.0), "more")
    book.register(reserved.identity, "a", ONE, "one")
    assert book.total() == ONE


def test_what_fails_before_it_is_entered_gives_its_reservation_back(book: Book) -> None:
    with pytest.raises(KeyboardInterrupt), book.reserved("a", ONE, "one") as mine:
        assert book.total() == ONE
        raise KeyboardInterrupt
    assert book.entries() == []
    book.register(mine.identity, "a", ONE, "one")  # it exists after all
    assert [entry.opened for entry in book.entries()] == [True]
    with pytest.raises(RuntimeError), book.reserved("b", HALF, "half") as mine:
        book.register(mine.identity, "b", HALF, "half")
        raise RuntimeError  # after it was entered
    assert book.total() == PrivacyGuarantee(epsilon=1.5)


def test_what_was_reserved_can_be_given_back_and_what_was_opened_cannot(book: Book) -> None:
    first, kept = book.reserve("a", ONE, "one"), book.reserve("b", HALF, "half")
    book.register(kept.identity, "b", HALF, "half")
    assert [entry.identity for entry in book.give_back("a")] == [first.identity]
    for store in ("a", "b", "c"):
        with pytest.raises(StoreError, match="no reservation"):
            book.give_back(store)
    assert book.total() == HALF
    again = book.reserve("a", ONE, "one")
    assert again != first and book.total() == PrivacyGuarantee(epsilon=1.5)
    assert Book(book.path).entries() == book.entries()
    assert first.identity.encode() in book.path.read_bytes()  # nothing is erased


@pytest.mark.parametrize("address", ["", "postgresql://localhost/name#"])
def test_what_was_reserved_for_something_that_exists_is_not_given_back(
    address: str, book: Book, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"  # of what was killed before it was entered
    store = f"{address}{secret}"
    reserved = book.reserve(store, ONE, "one")
    secret.touch()
    with pytest.raises(StoreError, match="delete it before"):
        book.give_back(store)
    assert book.total() == ONE
    secret.unlink()
    assert [entry.identity for entry in book.give_back(store)] == [reserved.identity]


def test_a_book_with_two_names_grants_nothing(book: Book) -> None:
    """Each change gives one of the names a new file, and the other keeps its whole allowance."""
    other = book.path.with_name("other.book")
    os.link(book.path, other)
    for name in (book.path, other):
        with pytest.raises(StoreError, match="hard links"):
            Book(name).reserve("a.db", PrivacyGuarantee(epsilon=1.0), "p")
    other.unlink()
    book.reserve("a.db", PrivacyGuarantee(epsilon=1.0), "p")


def test_a_book_whose_creation_was_killed_at_its_end_is_usable(book: Book) -> None:
    draft = book.path.with_name(f".{book.path.name}.{'0a' * 8}")
    os.link(book.path, draft)
    book.reserve("a.db", PrivacyGuarantee(epsilon=1.0), "p")
    assert not draft.exists()


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


def test_no_flipped_bit_is_accepted(book: Book) -> None:
    """Each bit of a book with entries of every state; ``make book`` prints the count."""
    tenth = PrivacyGuarantee(epsilon=0.1, delta=1e-9)
    for number in range(12):
        place = book.path.with_name(f"store number {number}")
        reserved = book.reserve(place, tenth, "a tenth")
        if number % 3 == 0:
            book.register(reserved.identity, place, tenth, "a tenth")
        elif number % 3 == 1:
            book.give_back(place)
    content, entries = book.path.read_bytes(), book.entries()
    accepted = []
    for byte, bit in product(range(len(content)), range(8)):
        flipped = bytearray(content)
        flipped[byte] ^= 1 << bit
        book.path.write_bytes(flipped)
        with suppress(StoreError):
            Book(book.path)
            accepted.append((byte, bit))
    print(f"{len(accepted)} of {8 * len(content):,} flipped bits of a book are accepted")
    assert 8 * len(content) >= 9_936 and not accepted
    book.path.write_bytes(content)
    assert Book(book.path).entries() == entries


def test_a_book_that_is_cut_off_or_longer_is_refused(book: Book) -> None:
    book.reserve("a", HALF, "half")
    content = book.path.read_bytes()
    for altered in (*(content[:size] for size in range(len(content))), content + b"\n"):
        book.path.write_bytes(altered)
        with pytest.raises(StoreError):
            Book(book.path)


def test_a_change_leaves_nothing_beside_the_book_and_its_mode_as_it_was(book: Book) -> None:
    book.path.chmod(0o640)
    book.path.with_name(".book.new").write_text("of a process that was killed")
    book.reserve("a", HALF, "half")
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o640
    assert [path.name for path in book.path.parent.iterdir()] == ["book"]


def test_a_book_that_cannot_be_written_stays_as_it_was(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*told: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = book.path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            book.reserve("a", HALF, "half")
    assert book.path.read_bytes() == before
    assert [path.name for path in book.path.parent.iterdir()] == ["book"]


def test_who_waits_too_long_for_a_book_is_told_so(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("littlestone.runs.book._PATIENCE", 0.05)
    with book.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InUseError, match="in use by another process"):
            book.reserve("a", HALF, "half")
    book.reserve("a", HALF, "half")


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
