"""Reject bad arguments early, by name and value, before anything changes."""

import inspect
import math
import operator
from collections.abc import Callable, Hashable
from dataclasses import fields
from fractions import Fraction
from functools import cached_property, lru_cache, partial, wraps
from numbers import Integral, Rational, Real
from sys import float_info
from types import FunctionType
from typing import Any, Final, TypeVar, cast, get_args, get_type_hints, is_typeddict

import numpy as np
from numpy.typing import NDArray

from littlestone.type_checks import PLAIN, always_fits, is_a, require_fit
from littlestone.type_checks import plain_number as plain_number
from littlestone.type_checks import shown as shown

_SMALLEST: Final = 1e-150
_LARGEST: Final = 10**150  # largest count: a float can hold its square
LARGEST_WORD: Final = 2**63 - 1
_LARGEST_EPSILON: Final = 1e6
_NUMBERS: Final = (int, float, Fraction)
_DEEPEST: Final = 32
_MOST_KINDS: Final = 64
_OWN: Final = "__door_"
_CHECKED: Final = "<arguments of "
_OF_ANY_SIZE: Final = frozenset({"seed", "slots", "threshold"})
"""Integers that never become floats; the paper's slots exceed every float."""
_OPEN: Final = (inspect.Parameter.empty, Any, Hashable)
Checked = TypeVar("Checked", bound=Callable[..., Any])


def plain(recipe: Any) -> None:
    """Convert a frozen dataclass's numbers to plain numbers and its sequences to tuples.

    Numbers of 8 bits overflow where plain ones do not, so plans or sums of costs would be silently
    wrong. Other values are left to later checks.
    """
    for name in _names_of_fields(type(recipe)):  # type: ignore[arg-type]
        value = getattr(recipe, name)
        if type(value) not in PLAIN:
            object.__setattr__(recipe, name, _plain_sequence(value))


def fields_fit(recipe: Any, *names: str) -> None:
    """Make fields plain, and raise a ValueError that names a field of the wrong type.

    All fields are checked unless ``names`` are given. An integer is at most 10**150; the caller
    checks narrower ranges.
    """
    plain(recipe)
    for name, hint in _hints_of(type(recipe)).items():  # type: ignore[arg-type]
        if not names or name in names:
            require_fit(name, getattr(recipe, name), hint)
            _refuse_huge(name, getattr(recipe, name))


def settle(recipe: Any, **derived: Any) -> None:
    """Set fields of a frozen dataclass that follow from its others."""
    for name, value in derived.items():
        object.__setattr__(recipe, name, value)


def checked(made: Checked) -> Checked:
    """Decorate a function so that its arguments are plain numbers of the annotated types.

    On a class, decorate its public methods and its constructor; the constructor of a dataclass
    calls ``fields_fit`` instead. A failure probability must lie in (0, 1), and an integer is at
    most 10**150, whose square a float holds. The function checks narrower ranges.

    >>> @checked
    ... def total(first: int, *, second: int) -> int:
    ...     return first + second
    >>> total(np.uint8(200), second=np.uint8(100))
    300
    >>> total(200, second="100")
    Traceback (most recent call last):
    ...
    ValueError: second must be a whole number, got second='100'
    """
    if not isinstance(made, type):
        return _checked_function(made)  # type: ignore[no-any-return]
    for name, member in list(vars(made).items()):
        if name.startswith("_") and (name != "__init__" or hasattr(made, "__dataclass_fields__")):
            continue
        if isinstance(member, classmethod | staticmethod):
            setattr(made, name, type(member)(_checked_function(member.__func__)))
        elif isinstance(member, FunctionType):
            setattr(made, name, _checked_function(member))
    return made


def _checked_function(function: Any) -> Any:
    """Return a compiled function of the same signature, since some are called for every draw.

    The generated source contains only the names of parameters, which are identifiers; defaults and
    annotations are passed as values under names that no parameter has.
    """
    if function.__code__.co_filename.startswith(_CHECKED):
        return function
    signature = inspect.signature(function)
    if any(name.startswith(_OWN) for name in signature.parameters):
        raise ValueError(f"parameters must not begin with {_OWN}, got {signature}")
    known: dict[str, Any] = {f"{_OWN}function": function, f"{_OWN}type": type, f"{_OWN}int": int}
    known |= {f"{_OWN}least": -_LARGEST, f"{_OWN}most": _LARGEST}
    parameters, checks, passed = [], [], []
    for name, each in signature.parameters.items():
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")  # type: ignore[call-overload]
        passed.append(f"{name}={name}" if each.kind is each.KEYWORD_ONLY else stars + name)
        default = each.empty if each.default is each.empty else _Name(f"{_OWN}default_{name}")
        parameters.append(each.replace(annotation=each.empty, default=default))
        known[f"{_OWN}default_{name}"] = each.default
        if name not in ("self", "cls") and each.annotation not in _OPEN:
            door = _Door(function, name)
            known |= {f"{_OWN}kinds_{name}": door.kinds, f"{_OWN}fitting_{name}": door.of(stars)}
            checks.append(f"    {_unless_fit(each, stars)}{name} = {_OWN}fitting_{name}({name})")
    if not checks:
        return function
    head = f"def call{signature.replace(parameters=parameters, return_annotation=each.empty)}:"
    text = "\n".join([head, *checks, f"    return {_OWN}function({', '.join(passed)})"])
    exec(compile(text, f"{_CHECKED}{function.__qualname__}>", "exec"), known)
    return wraps(function)(known["call"])


def _unless_fit(each: inspect.Parameter, stars: str) -> str:
    """Return the source of the quick test: the type and, for integers, the size."""
    if stars:
        return ""
    name, hint = each.name, each.annotation
    found = f"if {_OWN}type({name}) not in {_OWN}kinds_{name}"
    if name in _OF_ANY_SIZE or (isinstance(hint, type) and hint not in (int, float)):
        return f"{found}: "
    size = f"{_OWN}least <= {name} <= {_OWN}most"
    if hint is int:
        return f"if {_OWN}type({name}) is not {_OWN}int or not {size}: "
    return f"{found} or ({_OWN}type({name}) is {_OWN}int and not {size}): "


class _Name(str):
    """A default value whose repr is a name in the generated source."""

    __slots__ = ()
    __repr__ = str.__str__


class _Door:
    """The check of one parameter."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self._name = function, name
        self.kinds: set[type] = set()
        """Types, among the first that came, whose values all fit and are plain."""

    def of(self, stars: str) -> Callable[[Any], Any]:
        if not stars:
            return self.fitting
        return self.all_fitting if stars == "*" else self.named_fitting

    @cached_property
    def _hint(self) -> Any:
        # Resolved at the first call: names in annotations may be defined later.
        hint = get_type_hints(self._function)[self._name]
        return Any if hint is Hashable else hint  # the domain checks it

    def fitting(self, value: Any) -> Any:
        value = plain_number(value)
        require_fit(self._name, value, self._hint)
        _refuse_huge(self._name, value)
        if self._name == "failure_probability":
            open_probability(failure_probability=value)
        elif len(self.kinds) < _MOST_KINDS and always_fits(
            kind := cast(Any, type(value)), self._hint
        ):
            self.kinds.add(kind)  # plain, so of no other width
        return value

    def all_fitting(self, values: tuple[Any, ...]) -> list[Any]:
        """Check the values of ``*args``."""
        return [self.fitting(value) for value in values]

    def named_fitting(self, values: dict[str, Any]) -> dict[str, Any]:
        """Check the values of ``**kwargs``, typed or not."""
        form: Any = next(iter(get_args(self._hint)), None)
        if not is_typeddict(form):
            return {name: self.fitting(value) for name, value in values.items()}
        hints = get_type_hints(form)
        missing, unknown = form.__required_keys__ - values.keys(), values.keys() - hints.keys()
        if missing or unknown:
            wrong = f"misses {sorted(missing)}" if missing else f"does not take {sorted(unknown)}"
            raise TypeError(f"{self._function.__qualname__}() {wrong}")
        found = {name: plain_number(value) for name, value in values.items()}
        for name, value in found.items():
            require_fit(name, value, hints[name])
            _refuse_huge(name, value)
        return found


def _plain_sequence(value: Any, depth: int = 0) -> Any:
    if type(value) in (list, tuple) or (is_a(value, np.ndarray) and value.ndim == 1):
        if depth == _DEEPEST:
            raise ValueError(f"sequences must be nested at most {_DEEPEST} deep")
        return tuple(_plain_sequence(part, depth + 1) for part in value)
    return plain_number(value)


def _refuse_huge(name: str, value: Any) -> None:
    """Reject integers and fractions that no float can hold."""
    if type(value) not in (int, Fraction) or name in _OF_ANY_SIZE:
        return
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueError(
            f"{name} must lie between {-_LARGEST:.0e} and {_LARGEST:.0e}, got {name}={shown(value)}"
        )


@lru_cache(maxsize=512)
def _hints_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in _names_of_fields(kind)}


@lru_cache(maxsize=512)
def _names_of_fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


def positive(**named: Any) -> None:
    """Reject anything but finite numbers above zero.

    Also rejects numbers whose squares or reciprocals no float can hold, and an ``epsilon`` above a
    million, which promises nothing.

    >>> positive(epsilon=float("nan"))
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a finite number above 0, got epsilon=nan
    """
    for name, value in named.items():
        if not _is_finite(value) or not value > 0:
            raise ValueError(f"{name} must be a finite number above 0, got {name}={shown(value)}")
        largest = _LARGEST_EPSILON if name == "epsilon" else 1 / _SMALLEST
        if not _SMALLEST <= value <= largest:
            raise ValueError(
                f"{name} must lie between {_SMALLEST:g} and {largest:g}, got {name}={shown(value)}"
            )


def non_negative(**named: Any) -> None:
    """Reject anything but finite numbers of at least zero."""
    for name, value in named.items():
        if not _is_finite(value) or value < 0:
            raise ValueError(
                f"{name} must be a finite number of at least 0, got {name}={shown(value)}"
            )


def probability(**named: Any) -> None:
    """Reject numbers outside [0, 1), for instance a delta."""
    for name, value in named.items():
        if not _is_real(value) or not 0 <= value < 1:
            raise ValueError(f"{name} must lie in [0, 1), got {name}={shown(value)}")


def open_probability(**named: Any) -> None:
    """Reject numbers outside (0, 1), for instance a failure probability."""
    for name, value in named.items():
        if not _is_real(value) or not _SMALLEST <= value < 1:
            raise ValueError(f"{name} must lie in (0, 1), got {name}={shown(value)}")


def integer(*, at_least: int | None = None, at_most: int | None = None, **named: Any) -> int:
    """Return the last argument as a plain int; raise a ValueError unless all are in range.

    True and 3.0 are rejected. Use the returned number: numpy's 8-bit integers overflow.

    >>> integer(count=np.uint8(200), at_least=0) + 100
    300
    """
    plain_value = 0
    for name, value in named.items():
        if type(value) is not int and (not is_a(value, Integral) or is_a(value, bool)):
            raise ValueError(f"{name} must be a whole number, got {name}={shown(value)}")
        plain_value = operator.index(value)
        if at_least is not None and plain_value < at_least:
            raise ValueError(f"{name} must be at least {at_least}, got {name}={shown(value)}")
        if at_most is not None and plain_value > at_most:
            raise ValueError(f"{name} must be at most {at_most}, got {name}={shown(value)}")
        if plain_value > _MOST.get(name, plain_value):
            raise ValueError(f"{name} must be at most {_MOST[name]:.3g}, got {name}={shown(value)}")
    return plain_value


_COUNTS: Final = (
    "arity batch bins cells concepts different_points experts instances length memory period "
    "points repeats rounds samples size variables within"
)
_MOST: Final = dict.fromkeys((*_COUNTS.split(), "parts"), _LARGEST) | dict.fromkeys(
    ("batch", "size", "max_contributions"), LARGEST_WORD
)
"""Limits: counts are used as floats, and iterated ranges as machine words."""
_DIMENSIONS: Final = "dimension draws littlestone_dimension switches vc_dimension"
_SHARES: Final = "delta error failure_probability fake gap share"
_RATES: Final = "above_threshold_epsilon change epsilon inner_epsilon optimism rate width zcdp"
_USUAL: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(_COUNTS.split(), partial(integer, at_least=1)),
    **dict.fromkeys(_DIMENSIONS.split(), partial(integer, at_least=0)),
    **dict.fromkeys(_RATES.split(), positive),
    **dict.fromkeys(_SHARES.split(), open_probability),
    **dict.fromkeys(("deviation", "mean"), non_negative),
}


def usual(**named: Any) -> None:
    """Reject numbers outside the usual range of their name.

    >>> usual(rounds=10, epsilon=0.5, failure_probability=1.0)
    Traceback (most recent call last):
    ...
    ValueError: failure_probability must lie in (0, 1), got failure_probability=1.0
    """
    for name, value in named.items():
        _USUAL[name](**{name: value})


def usual_fields(recipe: Any) -> None:
    """Apply ``fields_fit``, and ``usual`` to the fields with a usual range."""
    fields_fit(recipe)
    for name, hint in _hints_of(type(recipe)).items():  # type: ignore[arg-type]
        if name in _USUAL and hint in _NUMBERS:
            _USUAL[name](**{name: getattr(recipe, name)})
        if name == "rounds" and hint in _NUMBERS:  # rounds are iterated over
            integer(rounds=recipe.rounds, at_most=LARGEST_WORD)


def label(y: Any, name: str = "label", count: int = 2) -> int:
    """Return ``y`` as a plain integer; raise a ValueError unless it is one of ``count`` labels.

    >>> label(True)
    1
    >>> label(2)
    Traceback (most recent call last):
    ...
    ValueError: label must be 0 or 1, got label=2
    """
    try:
        whole = operator.index(y)  # as in a block, which is read as bytes
    except Exception:  # a float or a fraction may equal an integer
        whole = y
    try:
        if whole == 0:
            return 0
        if whole == 1:
            return 1
        for number in range(2, count):
            if whole == number:
                return number
    except Exception:  # from the value itself, as an array's truth value or a signalling NaN
        pass
    raise ValueError(f"label must be {_all_of(count)}, got {name}={shown(y)}")


def labels(ys: Any, count: int = 2) -> NDArray[np.uint8]:
    """Return ``label`` of each label of a block; the error names the first bad one.

    Arrays of one numeric type are checked as a whole, anything else label by label.
    """
    dtype = getattr(ys, "dtype", None)
    masked = issubclass(type(ys), np.ma.MaskedArray)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and not masked:
        array = np.asarray(ys)
    else:
        values: Any = listed(labels=ys)
        try:
            values = bytearray(values)  # numpy reads bytes ten times as fast as a list
        except Exception:  # of what is in the list: a closer look follows
            values = [label(y, f"labels[{place}]", count) for place, y in enumerate(values)]
        array = np.array(values, dtype=np.uint8)
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {array.shape}")
    kind = array.dtype.kind
    below = kind == "i" and array.min(initial=0) < 0
    if kind == "f" or below or array.max(initial=0) >= count:
        bad = np.flatnonzero(~np.isin(array, np.arange(count)))
        if len(bad):
            raise ValueError(
                f"label must be {_all_of(count)}, got labels[{bad[0]}]={shown(array[bad[0]])}"
            )
    return array.astype(np.uint8, copy=False)


def _all_of(count: int) -> str:
    return "0 or 1" if count == 2 else f"from 0 to {count - 1}"


def plain_array(values: Any) -> NDArray[Any] | None:
    """Return an array; None for anything else, and for an array with a mask.

    Behind a mask is not a value, and numpy leaves masked elements out of ``min`` and ``any``.
    """
    kind = type(values)
    plain = issubclass(kind, np.ndarray) and not issubclass(kind, np.ma.MaskedArray)
    return values if plain else None


def listed(kind: Any = Any, **named: Any) -> list[Any]:
    """Return one argument as a list; raise a ValueError unless all elements are of the kind.

    >>> listed(int, weights=(1, 2.5))
    Traceback (most recent call last):
    ...
    ValueError: weights[1] must be a whole number, got weights[1]=2.5
    """
    ((name, values),) = named.items()
    try:
        each = iter(values)
    except Exception:  # raised by the value itself
        raise ValueError(f"{name} must be a sequence, got {name}={shown(values)}") from None
    try:
        found = values if type(values) is list else list(each)
    except (MemoryError, OverflowError):  # of its length, before a value is read
        raise ValueError(
            f"{name} must fit into memory, got {name}={shown(values)}: hand it over in parts"
        ) from None
    if kind is not Any:
        for place, value in enumerate(found):
            require_fit(f"{name}[{place}]", value, kind)
    return found


def array(**named: Any) -> NDArray[Any]:
    """Return one argument as an array; raise a ValueError if numpy cannot read it.

    An array that hides some of its values is rejected: numpy would read what it hides.

    >>> array(losses=np.ma.array([1, 2], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: losses must be an array without masked values, got losses=masked_array(data=[1, --],
                 mask=[False,  True],
           fill_value=999999)
    """
    ((name, values),) = named.items()
    if type(values) is np.ndarray:
        return values  # nothing of it can raise, and an alarm that does is not its fault
    try:
        if not np.ma.is_masked(values):
            return np.asarray(values)
    except Exception:  # raised by the value itself
        pass
    raise ValueError(f"{name} must be an array without masked values, got {name}={shown(values)}")


def pairs(**named: Any) -> tuple[list[Any], list[Any]]:
    """Return the points and labels of one argument; raise a ValueError unless it holds pairs.

    >>> pairs(dataset=[(1, 0), (2, 1)])
    ([1, 2], [0, 1])
    >>> pairs(dataset=[(1, 0), 2])
    Traceback (most recent call last):
    ...
    ValueError: dataset[1] must be a pair of point and label, got dataset[1]=2
    """
    ((name, _),) = named.items()
    found = listed(**named)
    for place, one in enumerate(found):
        held = is_a(one, tuple | list) or (is_a(one, np.ndarray) and one.ndim)
        if not held or len(one) != 2:
            at = f"{name}[{place}]"
            raise ValueError(f"{at} must be a pair of point and label, got {at}={shown(one)}")
    return [x for x, _ in found], [y for _, y in found]


def _is_real(value: object) -> bool:
    kind = type(value)  # isinstance with an abstract class is ten times slower
    return kind is float or kind is int or (is_a(value, Real) and kind is not bool)


def _is_finite(value: Any) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    if not _is_real(value):
        return False
    if is_a(value, Rational):  # integers and fractions may exceed every float
        return bool(abs(cast(Any, value)) <= float_info.max)
    return math.isfinite(value)
