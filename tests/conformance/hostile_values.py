"""Values that no argument expects, or only one that means it."""

import decimal
import math
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

import littlestone as ls


class OwnError(Exception):
    """Raised by a function that was handed over: the caller's own, which may come through."""


def raising(*args: object, **named: object) -> Any:
    raise OwnError


def endless_list() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


class Rude:
    """Raises whatever it is asked: comparing, hashing, converting, measuring, printing."""

    def _refuse(self, *args: object) -> Any:
        raise RuntimeError("rude")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = __bool__ = __len__ = __iter__ = __next__ = __getitem__ = __contains__ = _refuse
    __int__ = __index__ = __float__ = __complex__ = __round__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __str__ = __repr__ = __format__ = _refuse


class Liar:
    """Is equal to everything, has a length and an index, and keeps no promise with any of them."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __len__(self) -> int:
        return 3

    def __index__(self) -> int:
        return 7

    def __float__(self) -> float:
        return 0.5

    def __iter__(self) -> Any:
        return iter([None, "x"])


class Proxy:
    """Says that it is of another type, or, with none, refuses to say of which, as when unbound."""

    def __init__(self, kind: type | None) -> None:
        self._kind = kind

    @property
    def __class__(self) -> Any:
        if self._kind is None:
            raise RuntimeError("unbound")
        return self._kind

    @__class__.setter
    def __class__(self, _: Any) -> None:
        raise AttributeError


class Uneven(int):
    """A whole number that is another one whenever it is asked."""

    def __int__(self) -> int:
        return next(_PLACES)

    __index__ = __hash__ = __int__

    def __eq__(self, other: object) -> bool:
        return next(_PLACES) % 2 == 0


def nested(made: Callable[[Any], Any], depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = made(value)
    return value


class Whole(int):
    """A whole number whose sums, products and comparisons lie."""

    def __add__(self, other: object) -> int:
        return 0

    __radd__ = __sub__ = __mul__ = __rmul__ = __add__

    def __le__(self, other: object) -> bool:
        return True

    __lt__ = __ge__ = __gt__ = __le__

    def __int__(self) -> int:
        return -5

    __index__ = __int__


class Share(float):
    """A float that says it is another one."""

    def __float__(self) -> float:
        return -1.0

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__


class Word(str):
    """A string that is not equal to itself."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 1


_PLACES: Final = count()
NUMPY: Final = [
    kind(value)
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    for value in (1, 100)
] + [kind(0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)]

HOSTILE: Final[list[Callable[[], Any]]] = [
    *(lambda value=value: value for value in (
        None, True, False, NotImplemented, ..., 0, 1, -1, 2, 3, 7, 200, 2**31, 2**63, -(2**63),
        2**64, 10**9, 10**150, 10**400, -(10**400), 0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 1e-9, 1e-300,
        5e-324, 1e308, 2.0**53 + 2, math.nan, math.inf, -math.inf, 1j, "", "x", "1", "nan",
        "\ud800", "a\0b", "1/0", "é" * 300, b"", b"x" * 32, bytes(31), (), (1,), (1, 2), (None,),
        ("a", 1), frozenset(), frozenset({1}), Decimal("0.5"), Decimal(1), Decimal("NaN"),
        Decimal("sNaN"), Decimal("1e400"), Fraction(1, 2), Fraction(1, 3), Fraction(10**400, 3),
        Fraction(1, 10**400), Fraction(-1, 2), date(2024, 2, 29), datetime(2024, 2, 29, tzinfo=UTC),
        Path("nowhere"), int, len, np.bool_(True), np.datetime64("2024-02-29"), np.str_("x"),
        range(3), slice(1), type, math, *NUMPY,
        memoryview(b"ab"), np.array("x"), np.timedelta64("NaT"), np.longdouble("1e4000"),
        ls.concepts.MarginHalfspaces, ls.KeySets, ls.PrivacyGuarantee, ls.PrivateMajority,
    )),
    list, dict, set, Counter, bytearray, object, Rude, Liar,
    lambda: nested(lambda value: [value], 3000), lambda: nested(lambda value: (value,), 3000),
    lambda: nested(lambda value: {"grid": value, "a": value}, 3000),
    lambda: {"a": {"grid": nested(lambda value: [value], 3000)}},
    lambda: Uneven(1), lambda: [Uneven(0), 1], lambda: (Uneven(0), 1),
    lambda: Whole(3), lambda: Share(0.5), lambda: Word("x"), lambda: [1, 2], lambda: [0.5],
    lambda: [None], lambda: [[]], lambda: [Rude()], lambda: (Rude(),), lambda: {1: 2},
    lambda: {"a": None}, lambda: {"kind": "x"}, lambda: [(0, 1)], lambda: [(0, 1), (1, 0)],
    lambda: iter([1]), lambda: (n for n in [1, 2]), lambda: lambda *args, **named: None,
    lambda: raising, endless_list,
    lambda: np.array([]), lambda: np.array(1), lambda: np.array([1, 2]),
    lambda: np.array([[1.5, math.nan]]), lambda: np.array([None, "x"], dtype=object),
    lambda: np.array([0, 1], dtype=np.uint8), lambda: np.zeros((2, 3), dtype=bool),
    lambda: ls.Thresholds(5), lambda: ls.Points(), lambda: ls.concepts.MarginHalfspaces(2, 0.5),
    lambda: ls.concepts.MonotoneDisjunctions(1, 4), lambda: ls.KeySets(),
    lambda: ls.Thresholds(2**62),
    lambda: ls.FiniteClass([[0, 1]]), lambda: ls.PrivacyGuarantee(epsilon=0.5),
    lambda: ls.privacy.NOT_PRIVATE, lambda: ls.seeded(1),
    lambda: ls.learners.online.Halving(ls.Points(3)),
    lambda: ls.mechanisms.LaplaceCount(epsilon=1.0),
    lambda: ls.adversaries.Boundary(ls.Thresholds(3)),
    lambda: ls.PrivateMajority(concepts=ls.Thresholds(3), rounds=9, epsilon=1.0),
    lambda: ls.Thresholds(3).concept(1),
    lambda: ls.concepts.MajorityVote([ls.Thresholds(3).concept(1)]),
    lambda: ls.privacy.ZeroConcentrated(rho=0.1), lambda: ls.Event("a", 1, 1),
    lambda: ls.learners.batch.ProperSelection(concepts=ls.Thresholds(3), epsilon=1.0),
    lambda: ls.learners.sanitizers.TreeSanitizer(concepts=ls.Thresholds(3), epsilon=1.0),
    lambda: decimal,
]  # fmt: skip

# A few calls of 10,000 still meet one of these without a documented refusal.
EXTREME: Final[list[Callable[[], Any]]] = [
    lambda: range(10**12), lambda: range(10**30), lambda: np.ma.masked,
    lambda: [0, np.ma.masked], lambda: np.ma.array([0, 1], mask=[False, True]),
    *(lambda kind=kind: Proxy(kind) for kind in (
        None, int, float, str, tuple, list, dict, np.ndarray, Fraction, ls.Thresholds, ls.Event,
    )),
]  # fmt: skip
if "EXTREME" in os.environ:
    HOSTILE.extend(EXTREME)
