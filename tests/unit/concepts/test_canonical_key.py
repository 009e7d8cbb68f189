"""Equal keys look the same, or are refused: the form that is shown tells nothing about who came."""

import json
import pickle
from collections import namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from littlestone.concepts.canonical_key import (
    LARGEST_WHOLE,
    canonical_key,
    canonical_keys,
    whole_numbers,
)
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.domain import AnyHashable
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import key_from_json, key_order, key_to_json
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.randomness import seeded


class Color(str, Enum):  # noqa: UP042 - str() of a StrEnum would hide what is tested
    RED = "red"


class Number(int, Enum):
    ONE = 1


class Plain(Enum):
    ONE = 1


Pair = namedtuple("Pair", "left right")
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
IN_PARIS = NOON.astimezone(timezone(timedelta(hours=1)))
ONE_UUID = UUID(int=7)

EQUAL = [
    ("red", Color.RED),
    ((1, 2), Pair(1, 2)),
    (1, Number.ONE),
    (NOON, IN_PARIS),
    (datetime(2024, 1, 1), datetime(2024, 1, 1, fold=1)),
    (time(1, 2), time(1, 2, fold=1)),
    (frozenset([0, 8]), frozenset([8, 0])),
    ((frozenset([0, 8]),), (frozenset([8, 0]),)),
    (0, -0.0),
    (0.5, Fraction(1, 2)),
    (0.5, Decimal("0.50")),
    (10**30, 1e30 if 1e30 == 10**30 else Fraction(10**30)),
    (ONE_UUID, UUID(int=7, is_safe=SafeUUID.safe)),
    ("a", np.str_("a")),
    (b"a", np.bytes_(b"a")),
    (float("inf"), Decimal("Infinity")),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_keys_become_the_same_bytes(one: Any, other: Any) -> None:
    assert one == other
    forms = [canonical_key(one), canonical_key(other)]
    assert forms[0] == one and hash(forms[0]) == hash(one)
    for look in (repr, pickle.dumps, lambda key: json.dumps(key_to_json(key))):
        assert look(forms[0]) == look(forms[1])
    assert repr(canonical_keys([other, one])) == repr([forms[0]] * 2)


REFUSED = [
    1j,
    complex(1, -0.0),
    PureWindowsPath("A"),
    range(0, 3, 2),
    object(),
    Plain.ONE,
    [1],
    np.datetime64("NaT"),
    np.datetime64("2024-01-01"),
    timedelta(1),
    np.longdouble(0.5),
    float("nan"),
    (1, float("nan")),
    Decimal("sNaN"),
    Decimal("1E+999999"),
    LARGEST_WHOLE,
    Fraction(1, LARGEST_WHOLE),
    time(1, 2, tzinfo=UTC),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
    frozenset([range(3)]),
    ("a", [1]),
]


@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: type(bad).__name__)
def test_what_has_no_canonical_form_is_refused_at_the_door(bad: Any) -> None:
    for refuse in (
        canonical_key,
        lambda x: canonical_keys(["fine", x]),
        lambda x: canonical_keys([x]),
        Points().domain.check,
        key_to_json,
        FirstFrequent(epsilon=1.0, delta=1e-6, rounds=100).start(rng=seeded(1)).observe,
    ):
        with pytest.raises(ValueError, match=r"^x must be .* got x="):
            refuse(bad)


def test_blocks_of_numpy_times_are_refused_like_one_of_them() -> None:
    with pytest.raises(ValueError, match="must be made of"):
        Points().domain.check_many(np.array(["2024-01-01"], dtype="M8[D]"))


def test_deep_nesting_is_refused_before_anything_recurses_over_it() -> None:
    with pytest.raises(ValueError, match="must be made of"):
        canonical_key(_nested(40))
    assert canonical_key(_nested(10)) == _nested(10)


def _nested(depth: int) -> Any:
    return () if depth == 0 else (_nested(depth - 1),)


# hypothesis looks at every zone there is before it draws one: a second, for ten examples.
FEW_ZONES = ("Europe/Paris", "America/St_Johns", "Asia/Kathmandu", "Africa/Monrovia")
ZONES: st.SearchStrategy[Any] = (
    st.sampled_from([UTC, *map(ZoneInfo, FEW_ZONES)])
    if settings().max_examples <= 10
    else st.timezones()
)
LEAVES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False)
    | st.fractions()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=ZONES, min_value=datetime(1900, 1, 1))
    | st.times()
    | st.uuids()
    | st.decimals(allow_nan=False, min_value=-(10**9), max_value=10**9)
)
KEYS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


@given(KEYS)
def test_the_form_is_settled_and_survives_json(key: Any) -> None:
    form = canonical_key(key)
    assert repr(canonical_key(form)) == repr(form)
    written = json.dumps(key_to_json(key), sort_keys=True)
    read = key_from_json(json.loads(written))
    assert repr(read) == repr(form) and read == form
    assert json.dumps(key_to_json(form), sort_keys=True) == written


@given(KEYS, KEYS)
def test_equal_forms_look_the_same(one: Any, other: Any) -> None:
    forms = [canonical_key(one), canonical_key(other)]
    if forms[0] == forms[1]:
        assert repr(forms[0]) == repr(forms[1])
        assert key_order(forms[0]) == key_order(forms[1])


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_what_a_learner_publishes_does_not_tell_which_of_equal_keys_came_first(
    one: Any, other: Any
) -> None:
    recipe = LazyForest.calibrated(concepts=Points(), epsilon=4.0, delta=1e-3, rounds=2000)
    published = []
    for first in (one, other):
        run = recipe.start(rng=seeded(3))
        run.observe(first, 1)
        for _ in range(400):
            run.observe(other, 1)
        published.append((repr(run.hypothesis), pickle.dumps(run.hypothesis)))
        assert run.hypothesis(canonical_key(one)) == 1
        recipe.restore(run.snapshot())  # whatever was observed can be saved
    assert published[0] == published[1]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_first_frequent_shows_the_one_form(one: Any, other: Any) -> None:
    recipe = FirstFrequent(epsilon=4.0, delta=1e-3, rounds=2000)
    shown = []
    for first in (one, other):
        run = recipe.start(rng=seeded(3))
        run.observe(first)
        while not run.observe(other):
            pass
        shown.append(repr(run.released))
    assert shown == [repr((canonical_key(one),))] * 2


def test_a_date_is_a_key_like_any_other() -> None:
    rule = FiniteSupport.on(date(2024, 2, 29))
    assert FiniteSupport.from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    "block",
    [
        [3, -(2**63), 2**63 - 1],
        [3, 2**63],
        [1, True, 1.0],
        ["a", "b", ""],
        [("a", 1), (), (2**64, "b")],
        [("a", True), ("a", 1)],
        [("a", 1.0), ("a", 1j.real)],
        [("a", ("b", 1.0)), ("a", (2.5,))],
        [("a", np.int64(3)), ("a", 3)],
        [("a", None), (frozenset({1.0}),)],
        [("a", 1), ("b", "c", 2), (3,)],
        [("a", "b"), ("c", 1.0)],
        [(), ("a", 1.0)],
        [(), ()],
        [("é", 1), ("a", Color.RED)],
        ["é", "a", Color.RED],
        ["a", 1, ("b",)],
        [2**31, -(2**31) - 1, 5],
        [7, Number.ONE, 7],
        [7, np.int32(7), 2**31],
        [1, b"i" * 20, 2],
        [],
    ],
    ids=repr,
)
def test_a_block_has_the_forms_that_its_keys_have_singly(block: list[Any]) -> None:
    singly = [canonical_key(x) for x in block]
    assert repr(canonical_keys(block)) == repr(singly)
    checked = AnyHashable().check_many(block)
    assert repr(list(checked if isinstance(checked, list) else checked.tolist())) == repr(singly)


@pytest.mark.parametrize("block", [[("a", 1), ("b", 2)], [("é", 1), ("雪", "b")], [(1, "é")]])
def test_a_block_of_plain_tuples_is_seen_to_be_one_without_making_any_anew(block: Any) -> None:
    assert all(ours is theirs for ours, theirs in zip(canonical_keys(block), block, strict=True))


@given(st.lists(st.integers(-(2**33), 2**33)), st.lists(KEYS, max_size=2), st.randoms())
def test_whole_numbers_are_read_in_one_pass_and_nothing_else_is(
    numbers: list[int], others: list[Any], chance: Any
) -> None:
    block = [*numbers, *others]
    chance.shuffle(block)
    found = whole_numbers(block)
    small = all(type(x) is int and -(2**63) <= x < 2**63 for x in block)
    assert (None if found is None else found.tolist()) == (block if small else None)


@pytest.mark.parametrize("bad", [("a", 2**2000), ("a", 1 + 0j), ("a", [1]), ("a", float("nan"))])
def test_a_block_of_tuples_refuses_what_would_be_refused_singly(bad: Any) -> None:
    for block in ([("a", 1), bad], [bad], [bad, ("b", 1.0)]):
        with pytest.raises(ValueError, match="x must be made of"):
            AnyHashable().check_many(block)
