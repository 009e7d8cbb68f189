"""Of each user as many events are read as was said: by a reference, after every restart, once."""

import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.run import PrivateRun
from littlestone.randomness import Randomness
from littlestone.runs import durable
from littlestone.runs.durable import DifferentContentError, DurableRun
from littlestone.runs.intake import users
from littlestone.runs.intake.event import Event, Receipt
from littlestone.runs.intake.users import (
    NAMELESS,
    canonical_user,
    canonical_users,
    promise_of,
    user_digest,
    user_digests,
)

MOST = 2
RECIPE = PrivateMajority(concepts=Thresholds(16), rounds=500, epsilon=1.0, max_contributions=MOST)


class Name(str, Enum):  # noqa: UP042 - str() of a StrEnum would hide what is tested
    ANN = "Ann"


class Number(int, Enum):
    ONE = 1


class Moody(Decimal):
    """Prints as another number each time."""

    def __str__(self) -> str:
        return str(next(OTHERS))


OTHERS = count()
LOOKS = {
    "one": (1, 1.0, "1", " 1 ", "01", "1e0", "+1", "1.00", Decimal("1.0"), "１", "1\u200d",
            Number.ONE, Moody(1), Moody("1.0")),
    "large": (10**40, "1" + 40 * "0", "1e40", Decimal("1E+40")),
    "ann": ("Ann", "ann", "ANN ", "\tann", "ann\u200b", "a\u00adnn", "\u202eann", "ann\ufe0f",
            "ann\u2800", "a\u2065nn", "ann\ufff0", "an\U000e0080n", Name.ANN),
    "ann lee": ("Ann Lee", "ann  lee", "ann\u00a0lee", "ann \u200b lee", "ann\tlee\x00"),
    "\u03ce\u03b9": ("\u03c9\u0345\u0301", "\u03c9\u0345\u200b\u0301", "\u1ff4"),
    "yes": (True, "true", "TRUE"),
    "nobody": (None, "", "  ", "\u2800", "\U000e0fff"),
}  # fmt: skip
names = st.one_of(st.text(max_size=6), st.integers(), st.floats(), st.sampled_from(LOOKS["one"]))


@pytest.mark.parametrize("name", LOOKS)
def test_looks_of_one_name_are_one_user(name: str) -> None:
    assert len({canonical_user(look) for look in LOOKS[name]}) == 1


def test_other_names_are_other_users() -> None:
    different = [looks[0] for looks in LOOKS.values()] + ["1a", "1.5", 10**40 + 1, "an n", -1]
    assert len({canonical_user(name) for name in different}) == len(different)


@given(name=names)
def test_the_form_of_a_name_is_its_own_form(name: Any) -> None:
    form = canonical_user(name)
    assert canonical_user(form) == form


@given(group=st.lists(names | st.sampled_from(["a b", "a  b", "Ann", "2020-01-01", "1-e", "١"])))
def test_names_in_a_group_have_the_forms_that_they_have_alone(group: list[Any]) -> None:
    """The letters of text are joined, so a name must not reach into its neighbour's."""
    for some in (group, [name for name in group if type(name) is str], list(map(str, group))):
        assert canonical_users(some) == list(map(canonical_user, some))


def test_a_group_of_plain_names_takes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = ["Ann", "BO LI", "01", "1e0", "12-3", "-7", "x" * 1_000]
    forms = list(map(canonical_user, looks))
    monkeypatch.setattr(users, "canonical_user", lambda name: pytest.fail(name))
    assert canonical_users(looks) == forms


@pytest.mark.parametrize("name", ["a\nb", " a", "a ", "a  b", "", "é", Name.ANN, "\x7f", "x" * 999])
def test_a_name_has_its_form_beside_any_other(name: Any) -> None:
    for beside in ("ann", "", " ", "a b"):
        assert canonical_users([beside, name, beside])[1] == canonical_user(name)


@pytest.mark.parametrize(
    "bad", [["a"], {"a": 1}, b"a", "\ud800", "x" * 1001, "a" + "\u0301\u0323" * 10**6]
)
def test_what_is_no_name_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError):
        canonical_user(bad)
    with pytest.raises(ValueError):
        canonical_users(["ann", bad])


def test_digests_depend_on_the_key() -> None:
    one, other = (user_digests(bytes(31) + bytes([last])) for last in (1, 2))
    assert one(["ann"]) == one(["ann"]) != other(["ann"]) != one([NAMELESS])
    assert one(["ann", "bob"]) == one(["ann"]) + one(["bob"])
    assert [user_digest(bytes(31) + b"\1")("ann")] == one(["ann"])


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, seen: list[Any]) -> Iterator[None]:
    """Write down what reaches the engine: its points, and None for a round without one."""
    some, none = PrivateRun.take, PrivateRun.pass_round

    def take(self: PrivateRun, points: Any, labels: Any) -> int:
        taken = some(self, points, labels)
        seen.extend([points] if isinstance(labels, int) else points[:taken].tolist())
        return taken

    def pass_round(self: PrivateRun) -> None:
        seen.append(None)
        none(self)

    with monkeypatch.context() as patched:
        patched.setattr(PrivateRun, "take", take)
        patched.setattr(PrivateRun, "pass_round", pass_round)
        yield


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12
)
@given(
    groups=st.lists(
        st.lists(st.tuples(st.integers(0, 15), st.sampled_from(["a", "A", "b", 1, "1.0", ""]))),
        max_size=6,
    ),
    again=st.integers(0, 3),
)
def test_the_engine_sees_the_first_few_of_each_user(
    folder_in_memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    groups: list[list[tuple[int, Any]]],
    again: int,
) -> None:
    """In groups, some events twice, and the store opened anew before each group."""
    path = folder_in_memory / f"{secrets.token_hex(8)}.db"
    DurableRun.start(RECIPE, path, users="who").close()
    seen: list[Any] = []
    events: list[Event] = []
    receipts: dict[int, Receipt] = {}
    for group in groups:
        run = DurableRun.resume(RECIPE, path, users="who")
        fresh = [
            Event(f"e{len(events) + place}", x, int(x > 4), user=str(user))
            for place, (x, user) in enumerate(group)
        ]
        with watched(monkeypatch, seen):
            for receipt in run.take([*events[len(events) - again :], *fresh]):
                receipts.setdefault(receipt.round, receipt)
        run.close()
        events += fresh
    counts, expected = Counter[str](), []
    for event in events:
        counts[canonical_user(event.user)] += 1
        expected.append(event.x if counts[canonical_user(event.user)] <= MOST else None)
    assert seen == expected
    assert [receipts[place].over_limit for place in sorted(receipts)] == [
        x is None for x in expected
    ]


@pytest.fixture
def counted(folder_in_memory: Path) -> Iterator[DurableRun]:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db", users="who")
    yield run
    with suppress(OSError):  # most tests have closed it
        run.close()


def test_a_name_is_neither_in_the_store_nor_published(
    folder_in_memory: Path, counted: DurableRun
) -> None:
    counted.take([Event(f"e{i}", i % 16, 1, user="someone-special") for i in range(40)])
    published = b"".join(release.body for release in counted.releases())
    counted.close()
    stored = (folder_in_memory / "run.db").read_bytes()
    assert b"e39" in stored  # ids are there, as they came
    assert b"special" not in stored.lower() and b"special" not in published


def test_whether_users_are_counted_cannot_change(
    folder_in_memory: Path, counted: DurableRun
) -> None:
    counted.close()
    for other in (None, "whom"):
        with pytest.raises(StoreError, match="counts events by 'who'"):
            DurableRun.resume(RECIPE, folder_in_memory / "run.db", users=other)
    DurableRun.start(RECIPE, folder_in_memory / "plain.db").close()
    with pytest.raises(StoreError, match="counts no users"):
        DurableRun.resume(RECIPE, folder_in_memory / "plain.db", users="who")


def test_an_event_has_a_user_exactly_where_they_are_counted(
    folder_in_memory: Path, counted: DurableRun
) -> None:
    with pytest.raises(ValueError, match="user must be given"):
        counted.take([Event("a", 1, 1)])
    missing: Any = pandas.NA  # it is neither equal to None nor unequal, neither true nor false
    with pytest.raises(ValueError, match="user must be text"):
        counted.take([Event("a", 1, 1, user=missing)])
    plain = DurableRun.start(RECIPE, folder_in_memory / "plain.db")
    with pytest.raises(ValueError, match="user must be None"):
        plain.take([Event("a", 1, 1, user="ann")])
    with pytest.raises(ValueError, match="user must be None"):
        plain.take([Event("a", 1, 1, user=missing)])
    plain.close()
    assert counted.rounds == plain.rounds == 0


def test_an_event_that_comes_again_for_another_user_is_refused(counted: DurableRun) -> None:
    counted.take([Event("a", 1, 1, user="ann")])
    assert counted.take([Event("a", 1, 1, user=" ANN")])[0].repeated
    with pytest.raises(DifferentContentError, match="another user"):
        counted.take([Event("a", 1, 1, user="bob")])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE groups SET body = CAST(replace(CAST(body AS TEXT), char(10), '') AS BLOB)",
        "UPDATE blocks SET body = substr(body, 1, 200) || zeroblob(16) || substr(body, 217)",
        "UPDATE about SET value = 'whom' WHERE name = 'users'",
        "DELETE FROM about WHERE name = 'users'",
        "UPDATE about SET value = 'nothing is promised' WHERE name = 'promise'",
        "CREATE INDEX by_user ON groups (body)",
    ],
)
def test_whatever_is_altered_is_noticed(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch, counted: DurableRun, change: str
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 8)
    counted.close()
    counted = DurableRun.resume(RECIPE, folder_in_memory / "run.db", users="who")
    for first in range(0, 20, 4):
        counted.take([Event(f"e{i}", i % 16, 1, user=f"u{i % 3}") for i in range(first, first + 4)])
    counted.close()
    with sqlite3.connect(folder_in_memory / "run.db") as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(StoreError):
        DurableRun.resume(RECIPE, folder_in_memory / "run.db", users="who")


def test_digests_of_all_events_do_not_stay_in_memory(
    folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch, counted: DurableRun
) -> None:
    monkeypatch.setattr(durable, "CHECKPOINT_EVERY", 2)
    counted.close()
    for first in (0, 4):
        counted = DurableRun.resume(RECIPE, folder_in_memory / "run.db", users="who")
        counted.take([Event(f"e{first + i}", i, 1, user=f"u{i % 2}") for i in range(4)])
        assert counted.rounds == first + 4 and not counted._log.counted
        counted.close()


def test_the_promise_says_whether_it_is_enforced(counted: DurableRun) -> None:
    assert counted.promise == "ε = 2 to each 'who', of whose events at most 2 are read"
    assert counted.run.ledger.explain().startswith(f"Promised: {counted.promise};")
    assert promise_of(RECIPE, None).endswith("at most 2 examples (vouched for, not enforced)")


def test_plain_names_have_the_form_that_the_long_way_gives(rng: Randomness) -> None:
    """Names in ASCII take a short way; what is not seen sends the same name the long way round."""
    letters = [chr(code) for code in range(128)] + list("0123456789+-._eE  ") * 8
    for _ in range(20_000):
        name = "".join(letters[rng.below(len(letters))] for _ in range(rng.below(9)))
        assert canonical_user(name) == canonical_user(f"{name}\u200b"), name
