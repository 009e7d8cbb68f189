"""``littlestone schema --private-ranges``: a grid for a price, which whoever uses it has to pay."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
SCHEMA = ("schema", "events.csv", "--without", "late", "--without", "who")
PAID = (*SCHEMA, "--private-ranges", "0.5", "--numeric", "delay")
LEARN = ("learn", "events.csv", "--schema", "paid.toml", "--label", "late")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x % 700 / 10},{x % 90},{int(x % 700 >= 200)}\n" for x in range(7000))
    Path("events.csv").write_text("delay,who,late\n" + rows)


def test_whole_numbers_are_cut_at_whole_numbers(command: Command) -> None:
    words = ("schema", "events.csv", "--private-ranges", "50", "--numeric", "delay")
    status, text, _ = command(*words, "--whole", "who", "--without", "late")
    grids = {name: table["grid"] for name, table in tomllib.loads(text).items() if "grid" in table}
    assert status == 0 and set(grids) == {"delay", "who"}
    assert len(grids["who"]) == 7 and all(type(cut) is int for cut in grids["who"])
    assert any(type(cut) is float for cut in grids["delay"])


def stored(name: str, *more: str) -> tuple[str, ...]:
    return (*LEARN, "--store", f"{name}.db", "--out", f"{name}.jsonl", *more)


def test_who_learns_from_the_same_rows_pays_both_and_says_so_everywhere(command: Command) -> None:
    status, _, said = command(*PAID, "--out", "paid.toml")
    assert status == 0 and "ε = 0.5 was spent on the ranges of events.csv" in said
    declared = tomllib.loads(Path("paid.toml").read_text())
    (spent,) = declared["private-ranges"]
    assert spent["epsilon"] == 0.5 and spent["source"] == "events.csv"
    assert 1 <= len(declared["delay"]["grid"]) <= 7
    promise = "ε = 1.5 (ε = 1 for the rules, ε = 0.5 for the ranges of the schema)"
    status, _, said = command(*stored("run", "--report", "page.html"))
    assert status == 0 and f"{promise}; store run.db, round 0" in said
    assert f"Promised: {promise}; no example has paid more than ε = 1.5 so far" in said
    page = Path("page.html").read_text()
    assert page.count(promise) == 2 and re.search(r"ranges of the schema +ε = 0.5 +1 +before", page)
    told = command("status", "run.db")[1]
    assert promise in told and "[[schema." in told
    assert command(*stored("run"))[0] == 0  # continued
    status, _, said = command(*stored("run", "--other-data"))
    assert status == 2 and "counts what was spent" in said


def test_other_rows_pay_nothing_on_their_owners_word(command: Command) -> None:
    assert command(*PAID, "--out", "paid.toml")[0] == 0
    status, _, said = command(*stored("run", "--other-data"))
    assert status == 0 and "ε = 1; store run.db, round 0" in said
    status, _, said = command(*stored("run"))
    assert status == 2 and "does not count what was spent" in said


def test_a_book_counts_ranges_once_for_all_stores(command: Command) -> None:
    assert command("budget", "init", "data.book", "--epsilon", "2.5")[0] == 0
    book = ("--book", "data.book")
    assert command(*PAID, "--out", "paid.toml", *book)[0] == 0
    for name in ("a", "b"):
        assert command(*stored(name, *book))[0] == 0
    shown = json.loads(command("budget", "show", "data.book", "--json")[1])
    assert shown["promised"]["epsilon"] == 2.5 and len(shown["stores"]) == 3
    status, _, said = command(*PAID, *book)
    assert status == 2 and "no room for ε = 0.5" in said
    assert command("budget", "return", *book[1:], "--store", "events.csv")[0] == 2
    assert command("budget", "init", "late.book", "--epsilon", "1.5")[0] == 0
    assert command(*stored("late", "--book", "late.book"))[0] == 0  # entered by who uses them
    shown = json.loads(command("budget", "show", "late.book", "--json")[1])
    assert [entry["epsilon"] for entry in shown["stores"]] == [0.5, 1.0]


def test_people_are_promised_what_both_have_read_of_them(command: Command) -> None:
    users = ("--user", "who", "--max-contributions")
    assert command(*PAID, *users, "60", "--out", "paid.toml")[0] == 0
    status, _, said = command(*stored("run", *users, "2"))
    assert status == 0
    assert (
        "ε = 32 to each 'who', of whose events at most 2 are read (ε = 2 for the rules, ε = 30 "
        in said
    )
    Path("paid.toml").unlink()
    assert command(*PAID, "--out", "paid.toml")[0] == 0
    status, _, said = command(*stored("other", *users, "2"))
    assert status == 2 and "any number of rows" in said and not Path("other.db").exists()


def test_a_book_gets_the_price_for_whom_the_store_was_made(command: Command) -> None:
    """Whether or not it is said again how many events one of them may have."""
    assert command(*PAID, "--out", "paid.toml")[0] == 0
    assert command(*stored("run", "--max-contributions", "3"))[0] == 0
    assert command("budget", "init", "data.book", "--epsilon", "4.5")[0] == 0
    for more in ((), ("--max-contributions", "3")):
        assert command(*stored("run", "--book", "data.book", *more))[0] == 0
        shown = json.loads(command("budget", "show", "data.book", "--json")[1])
        assert [entry["epsilon"] for entry in shown["stores"]] == [1.5, 3.0]


def test_who_does_not_count_it_is_refused(command: Command) -> None:
    assert command(*PAID, "--out", "paid.toml")[0] == 0
    words = (
        "learn",
        "events.csv",
        "--class",
        "stumps:paid.toml",
        "--label",
        "late",
        "--rounds",
        "9",
    )
    status, _, said = command(*words, "--store", "run.db")
    assert status == 2 and "cost privacy" in said and not Path("run.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SCHEMA, "--private-ranges", "0.5"), "numeric must name"),
        ((*PAID, "--numeric", "late"), "must not name a column of"),
        ((*PAID, "--numeric", "dealy"), "no column 'dealy'"),
        ((*SCHEMA, "--numeric", "delay"), "for --private-ranges"),
        ((*SCHEMA, "--book", "data.book"), "for --private-ranges"),
        ((*SCHEMA, "--private-ranges", "0", "--numeric", "delay"), "epsilon"),
        ((*PAID, "--max-contributions", "2"), "needs --user"),
        ((*PAID, "--out", "events.csv", "--book", "data.book"), "exists"),
        ((*PAID, "--book", "no.book"), "no book"),
    ],
)
def test_what_is_refused_has_spent_nothing(
    command: Command, words: tuple[str, ...], message: str
) -> None:
    assert command("budget", "init", "data.book", "--epsilon", "1")[0] == 0
    status, printed, said = command(*words)
    assert (status, printed) == (2, "") and message in said
    assert "ε = 0 is promised" in command("budget", "show", "data.book")[1]
