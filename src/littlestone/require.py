"""Refuse bad arguments early, by name and value, before anything changes."""

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache, partial, wraps
from numbers import Integral, Rational, Real
from typing import Any, Final, ParamSpec, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from littlestone.type_checks import fits

_PLAIN: Final = frozenset({int, float, bool, str, type(None)})
_SMALLEST: Final = 1e-150
_LARGEST_EPSILON: Final = 1e6
_NUMBERS: Final = (int, float, Fraction)
Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def plain(recipe: Any) -> None:
    """Make the numbers among a frozen dataclass's fields plain ones, and its sequences tuples.

    Numbers of 8 bits wrap around where a plain one would not, so a plan or a sum of costs made of
    them would be silently wrong. What is neither is left for the checks that follow.
    """
    for name in _names_of_fields(type(recipe)):  # type: ignore[arg-type]
        value = getattr(recipe, name)
        if type(value) not in _PLAIN:
            object.__setattr__(recipe, name, _plain_sequence(value))


def fields_fit(recipe: Any) -> None:
    """``plain``, and refuse a field of the wrong kind by name before anything asks it for more.

    Whether a number is in range is for the checks that follow.
    """
    plain(recipe)
    for name, hint in _hints_of(type(recipe)).items():  # type: ignore[arg-type]
        value = getattr(recipe, name)
        if isinstance(value, _NUMBERS) and not isinstance(value, bool) and _may_be_number(hint):
            continue
        if isinstance(value, str) and "Literal" in str(hint):
            continue  # the check that follows says which words there are
        if not fits(value, hint):
            wanted = getattr(hint, "__name__", str(hint)).replace("littlestone.", "")
            raise ValueError(f"{name} must be of the kind {wanted}, got {name}={value!r}")


def settle(recipe: Any, **derived: Any) -> None:
    """Set fields of a frozen dataclass that follow from its others."""
    for name, value in derived.items():
        object.__setattr__(recipe, name, value)


def plain_arguments(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
    """The same for the arguments of a function that makes a recipe."""

    @wraps(make)
    def made(*args: Arguments.args, **named: Arguments.kwargs) -> Made:
        known = {name: plain_number(value) for name, value in named.items()}
        return make(*map(plain_number, args), **known)

    return made


def plain_number(value: Any) -> Any:
    """A number as an int, a float or a Fraction of ints; anything else as it is.

    >>> plain_number(np.int8(100)) + 100, plain_number(np.float32(0.5))
    (200, 0.5)
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return float(value) if isinstance(value, Real) else value


def _plain_sequence(value: Any) -> Any:
    if type(value) in (list, tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return tuple(map(_plain_sequence, value))
    return plain_number(value)


def _may_be_number(hint: Any) -> bool:
    return any(kind in (hint, *get_args(hint)) for kind in _NUMBERS)


@lru_cache(maxsize=512)
def _hints_of(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in _names_of_fields(kind)}


@lru_cache(maxsize=512)
def _names_of_fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


def positive(**named: float) -> None:
    """Refuse anything that is not a finite number above zero.

    So are numbers whose squares or reciprocals no float can hold, and an ``epsilon`` above a
    million, which promises nothing.

    >>> positive(epsilon=float("nan"))
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a finite number above 0, got epsilon=nan
    """
    for name, value in named.items():
        if not _is_real(value) or not math.isfinite(value) or not value > 0:
            raise ValueError(f"{name} must be a finite number above 0, got {name}={value!r}")
        largest = _LARGEST_EPSILON if name == "epsilon" else 1 / _SMALLEST
        if not _SMALLEST <= value <= largest:
            raise ValueError(
                f"{name} must lie between {_SMALLEST:g} and {largest:g}, got {name}={value!r}"
            )


def non_negative(**named: float) -> None:
    """Refuse anything that is not a finite number of at least zero."""
    for name, value in named.items():
        if not _is_real(value) or not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} must be a finite number of at least 0, got {name}={value!r}")


def probability(**named: float) -> None:
    """Refuse anything outside the half-open interval [0, 1): a delta, say."""
    for name, value in named.items():
        if not _is_real(value) or not 0 <= value < 1:
            raise ValueError(f"{name} must lie in [0, 1), got {name}={value!r}")


def open_probability(**named: float) -> None:
    """Refuse anything outside the open interval (0, 1): a failure probability, say."""
    for name, value in named.items():
        if not _is_real(value) or not _SMALLEST <= value < 1:
            raise ValueError(f"{name} must lie in (0, 1), got {name}={value!r}")


def integer(*, at_least: int | None = None, at_most: int | None = None, **named: Any) -> None:
    """Refuse what is no whole number (True and 3.0 are none), or is too small or too large."""
    for name, value in named.items():
        if type(value) is not int and (not isinstance(value, Integral) or isinstance(value, bool)):
            raise ValueError(f"{name} must be a whole number, got {name}={value!r}")
        if at_least is not None and value < at_least:
            raise ValueError(f"{name} must be at least {at_least}, got {name}={value!r}")
        if at_most is not None and not value <= at_most:
            raise ValueError(f"{name} must be at most {at_most}, got {name}={value!r}")


_COUNTS: Final = (
    "arity batch bins cells concepts experts instances points rounds samples size variables"
)
_DIMENSIONS: Final = "dimension draws littlestone_dimension switches vc_dimension"
_SHARES: Final = "delta error failure_probability fake gap share"
_RATES: Final = "above_threshold_epsilon change epsilon inner_epsilon optimism rate width zcdp"
_USUAL: Final[dict[str, Callable[..., None]]] = {
    **dict.fromkeys(_COUNTS.split(), partial(integer, at_least=1)),
    **dict.fromkeys(_DIMENSIONS.split(), partial(integer, at_least=0)),
    **dict.fromkeys(_RATES.split(), positive),
    **dict.fromkeys(_SHARES.split(), open_probability),
    **dict.fromkeys(("deviation", "mean"), non_negative),
}


def usual(**named: Any) -> None:
    """Refuse what is outside of the range that its name has nearly everywhere.

    >>> usual(rounds=10, epsilon=0.5, failure_probability=1.0)
    Traceback (most recent call last):
    ...
    ValueError: failure_probability must lie in (0, 1), got failure_probability=1.0
    """
    for name, value in named.items():
        _USUAL[name](**{name: value})


def usual_fields(recipe: Any) -> None:
    """``fields_fit``, and ``usual`` for the numbers among the fields that have such a name."""
    fields_fit(recipe)
    for name, hint in _hints_of(type(recipe)).items():  # type: ignore[arg-type]
        if name in _USUAL and hint in _NUMBERS:
            _USUAL[name](**{name: getattr(recipe, name)})


def label(y: Any) -> int:
    """Return ``y`` as the plain integer 0 or 1, or refuse it.

    >>> label(True)
    1
    >>> label(2)
    Traceback (most recent call last):
    ...
    ValueError: label must be 0 or 1, got label=2
    """
    try:
        if y == 0:
            return 0
        if y == 1:
            return 1
    except (TypeError, ValueError, ArithmeticError):
        pass  # an array, say, whose truth value is undefined
    raise ValueError(f"label must be 0 or 1, got label={y!r}")


def labels(ys: Any) -> NDArray[np.uint8]:
    """What ``label`` says of each of a block of labels, or a refusal that names the first bad one.

    What has one type of number is looked at as a whole; of anything else each label is.
    """
    kind = getattr(ys, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "biuf" and not isinstance(ys, np.ma.MaskedArray):
        array = np.asarray(ys)
    else:
        array = np.array(_zeros_and_ones(ys), dtype=np.uint8)
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, got shape {array.shape}")
    if array.dtype != np.uint8 or (array > 1).any():
        bad = np.flatnonzero((array != 0) & (array != 1))
        if len(bad):
            raise ValueError(f"label must be 0 or 1, got labels[{bad[0]}]={array[bad[0]]!r}")
    return array.astype(np.uint8, copy=False)


def _zeros_and_ones(ys: Any) -> bytearray | list[int]:
    """Small whole numbers as bytes, which numpy reads ten times as fast; others one by one."""
    try:
        values = ys if type(ys) is list else list(ys)
    except TypeError:
        raise ValueError(f"labels must be a sequence, got a {type(ys).__name__}") from None
    try:
        return bytearray(values)
    except (TypeError, ValueError):
        pass
    return [_label_at(place, y) for place, y in enumerate(values)]


def _label_at(place: int, y: Any) -> int:
    try:
        return label(y)
    except ValueError:
        raise ValueError(f"label must be 0 or 1, got labels[{place}]={y!r}") from None


def _is_real(value: object) -> bool:
    kind = type(value)  # asking an abstract class takes ten times as long
    return kind is float or kind is int or (isinstance(value, Real) and kind is not bool)
