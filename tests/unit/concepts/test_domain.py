"""Domains accept what belongs to them, in canonical form, and name what does not."""

import weakref
from collections.abc import Mapping
from datetime import datetime, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import islice, repeat
from numbers import Integral, Rational
from typing import Any, NamedTuple

import numpy as np
import pytest

from littlestone.concepts.domain import (
    AnyHashable,
    BooleanCube,
    Grid,
    IntegerRange,
    RationalBall,
    block_of,
)
from littlestone.concepts.protocols import Domain
from littlestone.concepts.schema import Schema


class Colour(str, Enum):  # noqa: UP042 - str() of a StrEnum would hide what is tested
    RED = "red"


class Place(NamedTuple):
    row: Any
    seat: str


class AnyCase(str):
    """Equal to itself in capitals, which its plain value is not."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(self.lower())


@pytest.mark.parametrize("bad", [-1, 5, 2.0, 1.5, float("nan"), "3", None, True, np.bool_(True)])
def test_a_range_refuses_what_is_not_one_of_its_integers(bad: Any) -> None:
    domain = IntegerRange(5)
    with pytest.raises(ValueError, match=r"^x must be an integer from 0 to 4, got x="):
        domain.check(bad)
    with pytest.raises(ValueError, match=r"^x must be an integer from 0 to 4, got x="):
        domain.check_many([0, bad])


class Uneven(int):
    """A point when it is checked, and another number when it is taken."""

    asked = 0

    def __int__(self) -> int:
        self.asked += 1
        return 0 if self.asked == 1 else 10**9

    __index__ = __int__


def test_a_point_is_asked_for_its_number_once() -> None:
    schema = Schema.from_mapping({"a": {"grid": [1]}})
    assert IntegerRange(5).check(Uneven(3)) == 3
    assert schema.check([Uneven(1)]) == (1,)
    with pytest.raises(ValueError, match="x must be an integer"):
        IntegerRange(5).check(Uneven(7))
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        schema.check([Uneven(7)])


@pytest.mark.parametrize("domain", [BooleanCube(2), Grid(2, 5), RationalBall(2)])
def test_a_point_is_read_as_far_as_it_may_reach(domain: Any) -> None:
    with pytest.raises(ValueError, match="x must be"):
        domain.check(repeat(0))


def test_a_range_returns_plain_integers() -> None:
    assert type(IntegerRange(5).check(np.uint8(4))) is int
    assert IntegerRange(5).check_many(np.array([4, 0], dtype=np.int8)).dtype == np.int64
    assert IntegerRange(5).check_many([]).shape == (0,)
    assert IntegerRange(5).check_many(range(3)).tolist() == [0, 1, 2]
    assert list(IntegerRange(3)) == [0, 1, 2]


def test_a_range_refuses_arrays_of_another_shape_or_kind() -> None:
    with pytest.raises(ValueError, match="xs must be one-dimensional"):
        IntegerRange(5).check_many(np.zeros((2, 2), dtype=int))
    with pytest.raises(ValueError, match=r"got x=.*1\.0"):
        IntegerRange(5).check_many(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"got x=18446744073709551615"):
        IntegerRange(5).check_many(np.array([2**64 - 1], dtype=np.uint64))
    with pytest.raises(ValueError, match="got x="):
        IntegerRange(5).check_many([2**200])


@pytest.mark.parametrize("bad", [0, -3, 2.5, float("nan"), "4", True, 2**63])
@pytest.mark.parametrize("kind", [IntegerRange, BooleanCube])
def test_sizes_are_whole_and_positive(kind: Any, bad: Any) -> None:
    if kind is BooleanCube and bad == 2**63:
        assert kind(bad).n == bad
        return
    with pytest.raises(ValueError, match=r"^n must be .* got n="):
        kind(bad)


@pytest.mark.parametrize("bad", [[1], {}, float("nan"), np.float64("nan"), (1, float("nan"))])
def test_a_key_must_be_hashable_and_equal_to_itself(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^x must be .* got x="):
        AnyHashable().check(bad)
    with pytest.raises(ValueError, match=r"^x must be .* got x="):
        AnyHashable().check_many(["fine", bad])


def test_numpy_keys_become_plain_values() -> None:
    assert type(AnyHashable().check(np.int64(3))) is int
    assert AnyHashable().check_many(np.array(["a", "b"])) == ["a", "b"]
    block = AnyHashable().check_many(np.arange(2, dtype=np.int8))
    assert isinstance(block, np.ndarray) and block.dtype == np.int64
    with pytest.raises(ValueError, match="got x=nan"):
        AnyHashable().check_many(np.array([0.5, np.nan]))
    with pytest.raises(ValueError, match="xs must be one-dimensional"):
        AnyHashable().check_many(np.zeros((2, 2)))


def test_keys_have_no_end() -> None:
    assert AnyHashable().size is None
    assert list(islice(AnyHashable(), 3)) == [0, 1, 2]


@pytest.mark.parametrize(
    "bad", [(0, 1), (0, 1, 1, 0), (0, 1, 2), (0, 1, float("nan")), 5, None, "010", [[0], [1], [0]]]
)
def test_the_cube_refuses_what_is_not_its_corner(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^x must be 3 zeros and ones, got x="):
        BooleanCube(3).check(bad)
    with pytest.raises(ValueError, match=r"^x must be 3 zeros and ones, got x="):
        BooleanCube(3).check_many([(0, 0, 0), bad])


def test_the_cube_returns_tuples_and_rows_of_zeros_and_ones() -> None:
    cube = BooleanCube(2)
    assert cube.check(np.array([True, False])) == (1, 0)
    assert list(cube) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert cube.size == 4
    assert cube.check_many([]).shape == (0, 2)
    assert cube.check_many([(1, 0), (0.0, 1.0)]).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("domain", [IntegerRange(7), AnyHashable(), BooleanCube(3)], ids=repr)
def test_samples_belong_to_the_domain(domain: Any) -> None:
    points = domain.sample(50, np.random.default_rng(3))
    assert [domain.check(x) for x in points] == list(points)
    assert len(domain.check_many(points)) == 50


@pytest.mark.parametrize(
    ("given", "other"),
    [
        (1, True),
        (1, 1.0),
        (1, Decimal(1)),
        (0.5, Fraction(1, 2)),
        (0, -0.0),
        (("a", 1), ("a", True)),
        (frozenset({1}), frozenset({1.0})),
        ((1, (2.0,)), (True, (2,))),
        ("red", Colour.RED),
        (Place(1, "b"), Place(True, "b")),
        ((1, "b"), Place(1, "b")),
    ],
)
def test_equal_keys_take_one_form(given: Any, other: Any) -> None:
    """Else the form that is published would tell whose key came first."""
    assert given == other
    forms = [AnyHashable().check(given), AnyHashable().check(other)]
    assert repr(forms[0]) == repr(forms[1])
    assert forms[0] == given
    assert repr(AnyHashable().check_many([other])) == repr([forms[0]])


def test_blocks_of_booleans_become_numbers() -> None:
    assert repr(AnyHashable().check_many(np.array([True, False]))) == "[1, 0]"


def test_a_key_that_compares_in_its_own_way_is_refused() -> None:
    with pytest.raises(ValueError, match="must be made of"):
        AnyHashable().check(AnyCase("Red"))


RECORD: dict[str, Any] = {"delay": {"grid": [0, 15]}, "from": {"values": ["A", "B"]}}


@pytest.mark.parametrize(
    ("domain", "xs"),
    [
        (IntegerRange(9), [3, np.int16(5), 0]),
        (AnyHashable(), ["a", 7.0, ("b", True)]),
        (AnyHashable(), [1, 2, 3]),
        (BooleanCube(2), [[True, 0], (1, 1)]),
        (Schema.from_mapping(RECORD), [{"delay": 20, "from": "A"}, (0, 1)]),
        (RationalBall(2), [(0.5, -0.25), (0, 1)]),
        (RationalBall(2), [(0.5, -0.25), (0.1, 0.2), (1e-30, 0.0)]),
        (IntegerRange(9), []),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_block_of_canonical_points_is_what_checking_gives(domain: Domain, xs: list[Any]) -> None:
    block, checked = block_of(domain, [domain.check(x) for x in xs]), domain.check_many(xs)
    assert type(block) is type(checked)
    assert np.array_equal(block, checked) if isinstance(block, np.ndarray) else block == checked
    assert getattr(block, "dtype", None) == getattr(checked, "dtype", None)


@pytest.mark.parametrize(
    ("domain", "hidden"),
    [
        (IntegerRange(8), 1), (IntegerRange(8), 99), (AnyHashable(), 7), (BooleanCube(2), [1, 7]),
        (Grid(2, 8), [1, 99]), (Schema.from_mapping(RECORD), [1, 1]),
    ],
)  # fmt: skip
def test_what_is_behind_a_mask_is_no_point(domain: Domain, hidden: Any) -> None:
    """numpy skips masked elements where it looks for the smallest, the largest or a bad one."""
    points = np.ma.array([np.zeros_like(hidden), hidden])
    points[1, ...] = np.ma.masked
    with pytest.raises(ValueError):
        domain.check_many(points)
    assert len(domain.check_many(points[:1])) == 1


@pytest.mark.parametrize("domain", [BooleanCube(2), Grid(2, 8), RationalBall(2)])
def test_what_can_be_read_only_once_is_no_point(domain: Domain) -> None:
    for point in (iter((1, 0)), (bit for bit in (1, 0)), map(int, "10")):
        with pytest.raises(ValueError, match="x must be 2"):
            domain.check(point)


class Raising:
    """A value whose every method raises."""

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError

    __eq__ = __index__ = __iter__ = __repr__ = _raise
    __hash__ = None  # type: ignore[assignment]


class Whole(Integral):
    """A whole number that never says which."""


class Part(Rational):
    """A fraction that never says which."""


class Record(Mapping[str, Any]):
    """A record that breaks when it is read."""


def raising(kind: Any) -> Any:
    return type(kind.__name__, (kind,), dict.fromkeys(kind.__abstractmethods__, Raising._raise))()


def gone() -> Any:
    """A proxy of what is no longer there, which raises when it is asked for its class."""

    def passing() -> None: ...

    return weakref.proxy(passing)


class Nowhere(tzinfo):
    utcoffset = dst = tzname = Raising._raise


@pytest.mark.parametrize(
    "domain",
    [AnyHashable(), IntegerRange(8), BooleanCube(2), Grid(2, 8), RationalBall(2)],
)
@pytest.mark.parametrize(
    "made",
    [
        Raising,
        lambda: raising(Whole),
        lambda: raising(Part),
        gone,
        lambda: datetime(2020, 1, 1, tzinfo=Nowhere()),
    ],
)
def test_what_a_value_raises_is_a_refusal(domain: Domain, made: Any) -> None:
    value = made()
    for xs in ([value], [(value, value)], [[value, value]]):
        with pytest.raises(ValueError):
            domain.check_many(xs)


class RaisingTuple(tuple[int, ...]):
    __iter__ = Raising._raise


@pytest.mark.parametrize(
    "made",
    [
        lambda _: np.ma.masked,
        lambda _: np.array(0),
        lambda _: gone(),
        lambda _: raising(Record),
        lambda rest: RaisingTuple((0, 0, *rest.values())),
        lambda rest: (raising(Whole), 0, *rest.values()),
        lambda rest: {"x": gone(), "y": 1} | rest,
        lambda rest: {"x": raising(Whole), "y": 1} | rest,
        lambda rest: {"x": 1, "y": gone()} | rest,
    ],
)
@pytest.mark.parametrize("fields", [2, 40])
@pytest.mark.parametrize("rows", [1, 20])
def test_what_a_record_raises_is_a_refusal(made: Any, fields: int, rows: int) -> None:
    declared: dict[str, Any] = {"x": {"buckets": 8}, "y": {"grid": [0, 1]}}
    schema = Schema.from_mapping(declared | {f"z{n}": {"grid": [0]} for n in range(2, fields)})
    rest = {f"z{n}": 0 for n in range(2, fields)}
    bad = made(rest)
    with pytest.raises(ValueError):
        schema.check(bad)
    with pytest.raises(ValueError):
        schema.check_many([{"x": 1, "y": 1, **rest}] * (rows - 1) + [bad])
