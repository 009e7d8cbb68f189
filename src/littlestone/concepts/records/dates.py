"""The parts of a date and time that rules may ask about: hour, weekday, month."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from littlestone import require

WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip

GRIDS: Final = {"hour": tuple(range(1, 24)), "month": tuple(range(2, 13)), "weekday": None}
"""The cuts of each part; None for a part with names."""

COUNTED: Final = {
    "unix": (datetime(1970, 1, 1, tzinfo=UTC), 1.0),
    "unix-ms": (datetime(1970, 1, 1, tzinfo=UTC), 0.001),
    "excel": (datetime(1899, 12, 30, tzinfo=UTC), 86400.0),
}
"""Formats of dates as numbers: the start, and the seconds per unit."""

_SAMPLE: Final = datetime(2013, 11, 28, 17, 45, 56, tzinfo=UTC)
_HOURS: Final = ("%H", "%I", "%c", "%X")

_PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "hour": lambda moment: moment.hour,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: WEEKDAYS[moment.weekday()],
}


def part_of(value: Any, part: str, form: str | None = None) -> Any:
    """Return a part of a date, time or text, without converting time zones.

    Args:
        value: The date or time, or a text in ISO 8601 or in ``form``.
        part: One of ``GRIDS``.
        form: The format of texts, as in ``datetime.strptime``; or a kind of number, one of
            ``COUNTED``, which is read in UTC.

    >>> part_of("2013-01-01 05:15", "hour"), part_of("2013-01-01T05:15:00+02:00", "weekday")
    (5, 'Tuesday')
    >>> part_of("31.12.2013 17:05", "hour", "%d.%m.%Y %H:%M")
    17
    >>> part_of("41275.70833", "hour", "excel"), part_of(1356991200000, "month", "unix-ms")
    (17, 12)
    >>> part_of("2013-01-01", "hour")
    Traceback (most recent call last):
    ...
    ValueError: there is no hour in '2013-01-01'
    """
    if form in COUNTED:
        value = _counted(value, form)
    with suppress(Exception):  # raised by the value itself
        moment = _read(value.strip(), form) if isinstance(value, str) else value
        fits = isinstance(moment, date if part != "hour" else datetime | time)
        if fits and moment == moment:  # NaT is not equal to itself
            return _PARTS[part](moment)
    raise ValueError(f"there is no {part} in {require.shown(value)}")


def _counted(value: Any, form: str) -> Any:
    """Read a number of seconds or days, to the second: 17:00 is less than .70834 of a day."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return value
    since, seconds = COUNTED[form]
    with suppress(ValueError, ArithmeticError):  # one that no date can hold
        return since + timedelta(seconds=round(float(value) * seconds))
    return None


def require_date_format(form: str) -> None:
    """Reject a format that cannot read what it writes."""
    if form in COUNTED:
        return
    try:
        read = datetime.strptime(_SAMPLE.strftime(form), form)
    except ValueError:
        read = None
    if read is None or read.date() != _SAMPLE.date():
        raise ValueError(
            f"date-format must be as in '%d.%m.%Y %H:%M', or one of {', '.join(COUNTED)}, got "
            f"{form!r}"
        )


def _read(text: str, form: str | None) -> date | time | None:
    """Read a date or a time; a date has no hour, and a time alone has a colon."""
    if form is not None:
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            return None
        return moment if any(letters in form for letters in _HOURS) else moment.date()
    with suppress(ValueError):
        return date.fromisoformat(text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    with suppress(ValueError):
        return time.fromisoformat(text) if ":" in text else None
    return None
