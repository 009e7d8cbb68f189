"""Fleets and services enter the budget book like stores: before anything of them is made."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.served import serving
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.errors import BudgetExceededError, StoreError
from littlestone.http.hosted import Runs
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book

FLEET = ("--class", "thresholds:64", "--rounds", "100", "--setting", "realizable")
RUN: dict[str, Any] = {"class": "thresholds:7", "rounds": 100, "learner": "private-majority"}


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book.create(tmp_path / "book", allowance=PrivacyGuarantee(epsilon=3.0, delta=1e-6))


def init(folder: Path, name: str, *more: str) -> Any:
    """A fleet on Spark: it is made without Spark."""
    places = (str(folder / name), "--secret", str(folder / f"{name}.secret"))
    words = ("--book", str(folder / "book"), *FLEET, *more)
    return CliRunner().invoke(app, ["fleet", "spark", "init", *places, *words])


def test_a_fleet_is_entered_with_what_a_person_under_all_its_keys_pays(
    book: Book, tmp_path: Path
) -> None:
    made = init(tmp_path, "fleet", "--epsilon", "0.5", "--max-keys", "4")
    assert made.exit_code == 0 and "ε = 2 is promised to 1 store" in " ".join(made.output.split())
    [entry] = book.entries()
    assert entry.opened and entry.promised.epsilon == 2.0 and "at most 4 keys" in entry.promise
    assert entry.store == str(tmp_path / "fleet.secret")


def test_a_fleet_without_room_is_not_made(book: Book, tmp_path: Path) -> None:
    refused = init(tmp_path, "fleet", "--max-keys", "4")
    assert isinstance(refused.exception, BudgetExceededError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book"]
    assert book.entries() == []


def test_more_partitions_than_a_mark_has_lines_are_refused_before_the_book(
    book: Book, tmp_path: Path
) -> None:
    before = book.path.read_bytes()
    refused = init(tmp_path, "fleet", "--partitions", "5000")
    assert "partitions must be at most 4096" in str(refused.exception)
    assert book.path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book"]


def test_what_was_reserved_for_a_fleet_that_cannot_be_made_is_given_back(
    book: Book, tmp_path: Path
) -> None:
    (tmp_path / "fleet").mkdir()  # in the way
    assert init(tmp_path, "fleet", "--max-keys", "2").exit_code != 0
    assert book.entries() == [] and not (tmp_path / "fleet.secret").exists()
    (tmp_path / "fleet").rmdir()
    assert init(tmp_path, "fleet", "--max-keys", "2").exit_code == 0
    [entry] = book.entries()
    assert entry.opened


def test_a_fleet_that_cannot_be_entered_leaves_no_secret_and_a_refused_one_no_entry(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "fleet.secret"
    secret.touch()
    assert init(tmp_path, "fleet").exit_code != 0 and book.entries() == []
    secret.unlink()

    def given_back(*told: Any) -> None:
        raise StoreError("was given back")

    monkeypatch.setattr(Book, "register", given_back)
    assert "was given back" in str(init(tmp_path, "fleet").exception)
    assert not secret.exists()  # with it and --adopt somebody could work, and no book would know


def test_what_stands_in_the_way_of_a_run_takes_no_room(book: Book, tmp_path: Path) -> None:
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "somebody's").touch()
    with serving(tmp_path / "runs", book=book) as served:
        asked = json.dumps({**RUN, "name": "one", "epsilon": 2.0}).encode()
        assert served.raw("POST", "/runs", asked)[0] == 409
    assert book.entries() == []


def test_runs_of_a_service_are_entered_once_and_refused_without_room(
    book: Book, tmp_path: Path
) -> None:
    def asked(name: str, epsilon: float) -> bytes:
        return json.dumps({**RUN, "name": name, "epsilon": epsilon}).encode()

    with serving(tmp_path / "runs", book=book) as served:
        assert served.raw("POST", "/runs", asked("one", 2.0))[0] == 201
        status, _, content = served.raw("POST", "/runs", asked("two", 1.5))
        assert status == 409 and "no room for ε = 1.5" in content.decode()
        assert not (tmp_path / "runs" / "two").exists()
        assert served.raw("POST", "/runs", asked("two", 1.0))[0] == 201
    # Until a run reads an event it may be removed, and what was reserved for it given back.
    assert [entry.opened for entry in book.entries()] == [False, False]
    with serving(tmp_path / "runs", book=book) as served:  # opened again: nothing is added
        assert served.raw("GET", "/runs/one/hypothesis")[0] == 200
        for name in ("one", "two"):
            assert served.client().send(name, 3, 1)["round"] == 1
    assert [(entry.promised.epsilon, entry.opened) for entry in book.entries()] == [
        (2.0, True),
        (1.0, True),
    ]
    with pytest.raises(StoreError, match="belongs to the budget book"):
        asyncio.run(opened_without_book(tmp_path / "runs"))


async def opened_without_book(folder: Path) -> None:
    runs = Runs(folder)
    runs.open_all()
    try:
        await runs.hosted["one"].thread.ready()
    finally:
        await runs.close()
