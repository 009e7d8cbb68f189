"""The parts of a date and time that rules may ask about: hour, weekday, month."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any, Final

WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip

GRIDS: Final = {"hour": tuple(range(1, 24)), "month": tuple(range(2, 13)), "weekday": None}
"""What each part is compared with; None for one that has names."""

_SAMPLE: Final = datetime(2013, 11, 28, 17, 45, 56)
_HOURS: Final = ("%H", "%I", "%c", "%X")

_PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "hour": lambda moment: moment.hour,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: WEEKDAYS[moment.weekday()],
}


def part_of(value: Any, part: str, form: str | None = None) -> Any:
    """Return a part of a date, of a time, or of a text; as it is written, in no other zone.

    Args:
        value: The date or time, or a text in ISO 8601 or in ``form``.
        part: One of ``GRIDS``.
        form: How texts are written, in the letters of ``datetime.strptime``.

    >>> part_of("2013-01-01 05:15", "hour"), part_of("2013-01-01T05:15:00+02:00", "weekday")
    (5, 'Tuesday')
    >>> part_of("31.12.2013 17:05", "hour", "%d.%m.%Y %H:%M")
    17
    >>> part_of("2013-01-01", "hour")
    Traceback (most recent call last):
    ...
    ValueError: there is no hour in '2013-01-01'
    """
    moment = _read(value.strip(), form) if isinstance(value, str) else value
    fits = isinstance(moment, date if part != "hour" else datetime | time)
    if fits and moment == moment:  # pandas has a date that is none
        return _PARTS[part](moment)
    raise ValueError(f"there is no {part} in {value!r}")


def require_date_format(form: str) -> None:
    """Refuse a form that does not read back what it writes."""
    try:
        read = datetime.strptime(_SAMPLE.strftime(form), form)
    except ValueError:
        read = None
    if read is None or read.date() != _SAMPLE.date():
        raise ValueError(f"date-format must be as in '%d.%m.%Y %H:%M', got {form!r}")


def _read(text: str, form: str | None) -> date | time | None:
    """Read a date or a time; a date alone has no hour, and a time alone has a colon."""
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
