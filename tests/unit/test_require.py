"""``checked``: a function of the same signature whose arguments are what they should be."""

import inspect
import pickle
import traceback
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conformance.hostile_values import Proxy, Rude

from littlestone import require
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.sparse_sets import KeySets
from littlestone.concepts.domain import AnyHashable, BooleanCube, IntegerRange, RationalBall
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.adversaries.boundary import Contradiction
from littlestone.type_checks import fits


@require.checked
def of_every_kind(
    first: int, second: float = 0.5, /, third: int = 3, *rest: int, named: str = "n", **more: int
) -> tuple[Any, ...]:
    """As many kinds of parameters as there are."""
    return first, second, third, rest, named, more


def test_the_signature_is_that_of_the_function() -> None:
    bare = inspect.unwrap(of_every_kind)
    assert inspect.signature(of_every_kind) == inspect.signature(bare)
    assert of_every_kind.__doc__ == bare.__doc__ and of_every_kind.__name__ == "of_every_kind"
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1,), {}),
        ((1, 2.5, 3, 4, 5), {"named": "x", "other": 6}),
        ((1,), {"third": 4, "first": 7}),  # a keyword like a parameter that has none
    ]
    for given, named in calls:
        assert of_every_kind(*given, **named) == bare(*given, **named)
    refused: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((), {}), ((), {"first": 1})]
    for given, named in refused:
        with pytest.raises(TypeError, match=r"of_every_kind\(\) missing 1 required positional"):
            of_every_kind(*given, **named)


def test_only_keywords_stay_keywords() -> None:
    @require.checked
    def keywords(*, first: int, second: int = 2) -> tuple[int, int]:
        return first, second

    assert keywords(first=1) == (1, 2)
    with pytest.raises(TypeError, match="positional"):
        keywords(1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("given", "named", "wrong"),
    [
        (("1",), {}, "first"),
        ((1, "2"), {}, "second"),
        ((1, 2.0, None), {}, "third"),
        ((1, 2.0, 3, 4, 5.5), {}, "rest"),
        ((1,), {"named": b"x"}, "named"),
        ((1,), {"other": "x"}, "more"),
        ((10**400,), {}, "first"),
        ((1, Fraction(10**400)), {}, "second"),
        ((1, 2.0, 3, -(10**151)), {}, "rest"),
    ],
)
def test_every_argument_is_looked_at_each_time(given: Any, named: Any, wrong: str) -> None:
    for _ in range(2):
        of_every_kind(1, 0.5, 3, 4, named="n", other=5)  # what is fine has been seen
        with pytest.raises(ValueError, match=f"{wrong} must "):
            of_every_kind(*given, **named)


def test_what_the_paper_asks_for_may_exceed_every_float() -> None:
    @require.checked
    def both(slots: int, rounds: int) -> int:
        return slots

    assert both(10**400, 1) == 10**400
    with pytest.raises(ValueError, match="rounds must lie between -1e"):
        both(1, 10**400)


def test_numbers_are_plain_each_time() -> None:
    function: Any = of_every_kind
    for _ in range(2):
        found = function(np.uint8(200), np.float32(0.5), np.int8(1), np.int8(2), o=np.int8(3))
        numbers = [*found[:3], *found[3], *found[5].values()]
        assert [type(number) for number in numbers] == [int, float, int, int, int]


def test_a_listed_argument_that_fits_does_not_let_the_next_one_pass() -> None:
    @require.checked
    def listing(*pairs: tuple) -> int:  # type: ignore[type-arg]
        return len(pairs)

    assert listing((1, 2)) == 1  # a tuple; and all arguments together come as one, too
    with pytest.raises(ValueError, match="pairs must be"):
        listing("x")  # type: ignore[arg-type]


def test_names_of_parameters_mean_nothing_to_the_check() -> None:
    """Neither are they called, nor do they replace what the check needs."""

    @require.checked
    def odd(function: Any, type: Any, call: int, known: int, kinds_call: int = 1) -> Any:
        return function, type, call, known, kinds_call

    assert odd(len, print, 1, 2) == (len, print, 1, 2, 1)
    with pytest.raises(ValueError, match="known must be a whole number"):
        odd(len, print, 1, "2")  # type: ignore[arg-type]

    def own(__door_function: int) -> None: ...

    with pytest.raises(ValueError, match="parameters must not begin with __door_"):
        require.checked(own)


def test_defaults_and_annotations_are_not_read_as_code() -> None:
    class Loud:
        def __repr__(self) -> str:
            return "[].append(exec('raise SystemExit'))"

    default = Loud()

    def quiet(first: int, second=default, third: Any = default) -> Any:  # type: ignore[no-untyped-def]
        return second, third

    quiet.__annotations__["second"] = default
    assert require.checked(quiet)(1, third=2) == (default, 2)


def test_a_subclass_has_its_own_method_and_the_checked_one_of_its_base() -> None:
    @require.checked
    class Base:
        def double(self, number: int) -> int:
            return 2 * number

        @classmethod
        def made(cls, number: int) -> tuple[type, int]:
            return cls, number

        @staticmethod
        def half(number: int) -> int:
            return number // 2

    class Own(Base):
        def double(self, number: Any) -> Any:
            return super().double(len(number))

    once = Base.__dict__["made"].__func__
    assert require.checked(Base).__dict__["made"].__func__ is once
    assert Own().double("abc") == 6 and Own.made(1) == (Own, 1) and Own.half(4) == 2
    calls: tuple[Any, ...] = (Base().double, Own.made, Own.half)
    for call in calls:
        with pytest.raises(ValueError, match="number must be a whole number"):
            call("3")


def test_it_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(of_every_kind)) is of_every_kind


def test_a_traceback_says_whose_arguments_were_looked_at() -> None:
    with pytest.raises(ValueError, match="first must be") as refusal:
        of_every_kind("x")  # type: ignore[arg-type]
    frames = traceback.extract_tb(refusal.value.__traceback__)
    assert [frame.filename for frame in frames][1] == "<arguments of of_every_kind>"


def test_few_of_many_types_are_remembered() -> None:
    class Speaking(Protocol):
        def speak(self) -> str: ...

    @require.checked
    def heard(who: Speaking) -> str:
        return who.speak()

    for number in range(200):
        kind = type(f"Kind{number}", (), {"speak": lambda self: "so"})
        assert heard(kind()) == "so"
    with pytest.raises(ValueError, match=r"who must be .*lacks speak"):
        heard(object())  # type: ignore[arg-type]
    code = heard.__globals__
    assert max(len(value) for name, value in code.items() if "kinds" in name) <= 64


@pytest.mark.parametrize("posing_as", [None, int, tuple])
def test_a_value_is_what_its_type_says(posing_as: type | None) -> None:
    """Proxies pass for another type in ``isinstance``, and raise there when they are unbound."""
    given: Any = Proxy(posing_as)
    with pytest.raises(ValueError, match="must be a whole number"):
        of_every_kind(given)
    for domain in (IntegerRange(5), AnyHashable(), BooleanCube(2), RationalBall(1)):
        with pytest.raises(ValueError, match="x must be"):
            domain.check(given)
        with pytest.raises(ValueError, match="must be"):
            domain.check_many(given)


def test_a_class_is_not_one_of_its_values() -> None:
    """``PrivateMajority(concepts=KeySets, …)`` lacks two brackets, and is told so."""
    for value in (KeySets(), MarginHalfspaces(2, 0.5)):
        kind: Any = type(value)
        assert fits(value, ConceptClass) and not fits(kind, ConceptClass)
        with pytest.raises(ValueError, match="must be of the kind ConceptClass"):
            Contradiction(kind)


@pytest.mark.parametrize("size", [10**12, 10**30])
def test_what_does_not_fit_into_memory_is_refused_by_name(size: int) -> None:
    with pytest.raises(ValueError, match="xs must fit into memory"):
        require.listed(xs=range(size))


def test_masked_values_are_not_read() -> None:
    """numpy would take what lies below the mask."""
    masked = np.ma.array([1, 0], mask=[False, True])
    for values in (masked, [0, np.ma.masked]):
        with pytest.raises(ValueError, match="losses must be an array without masked values"):
            require.array(losses=values)
    assert require.array(losses=np.ma.array([1, 0])).tolist() == [1, 0]


def test_what_cannot_be_iterated_over_is_refused_before_it_is() -> None:
    @require.checked
    def total(numbers: Iterable[int]) -> int:
        return sum(numbers)

    assert total(iter([1, 2])) == total(n for n in (1, 2)) == total(range(3)) == 3
    with pytest.raises(ValueError, match="numbers must be"):
        total(Rude())


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.float64, object, "U1", "M8[s]"])
def test_arrays_have_the_kind_of_numbers_that_is_asked_for(dtype: Any) -> None:
    @require.checked
    def whole(cells: NDArray[np.int64]) -> int:
        return cells.size

    @require.checked
    def real(cells: NDArray[np.float64]) -> int:
        return cells.size

    @require.checked
    def anything(cells: NDArray[Any]) -> int:
        return cells.size

    array = np.array([1, 0]).astype(dtype)
    assert anything(array) == 2
    for function, kinds in ((whole, "biu"), (real, "biuf")):
        for _ in range(2):
            assert function(np.array([1, 2])) == 2
            if array.dtype.kind in kinds:
                assert function(array) == 2
            else:
                with pytest.raises(ValueError, match="cells must be"):
                    function(array)


class Counted:
    """A whole number that equals no other: numpy and bytes take it, a comparison does not."""

    def __index__(self) -> int:
        return 1


@pytest.mark.parametrize("other", [0, 1.0, True, np.int8(1), Fraction(1)])
def test_no_label_decides_whether_another_is_one(other: Any) -> None:
    alone = require.labels([Counted()])
    assert require.labels([Counted(), other]).tolist() == [*alone, *require.labels([other])]
    assert require.label(Counted()) == 1
    with pytest.raises(ValueError, match="0 or 1"):
        require.labels([Rude(), other])


@pytest.mark.parametrize("kind", ["i1", "i8", "u1", "u8", "f8"])
@pytest.mark.parametrize("bad", [-1, 2, 255])
def test_a_bad_label_of_an_array_is_named(kind: str, bad: int) -> None:
    with np.errstate(over="ignore"):
        labels = np.array([0, 1, bad], dtype="i8").astype(kind)
    with pytest.raises(ValueError, match=r"got labels\[2\]"):
        require.labels(labels)
    assert require.labels(labels[:2]).tolist() == [0, 1]
    assert require.labels(labels[:0]).tolist() == []


def test_labels_of_an_array_of_booleans_are_numbers() -> None:
    assert require.labels(np.array([False, True])).tolist() == [0, 1]
