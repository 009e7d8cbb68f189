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

_PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "hour": lambda moment: moment.hour,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: WEEKDAYS[moment.weekday()],
}


def part_of(value: Any, part: str) -> Any:
    """A part of a date, of a time, or of a text in ISO 8601; as it is written, in no other zone.

    >>> part_of("2013-01-01 05:15", "hour"), part_of("2013-01-01T05:15:00+02:00", "weekday")
    (5, 'Tuesday')
    >>> part_of("2013-01-01", "hour")
    Traceback (most recent call last):
    ...
    ValueError: there is no hour in '2013-01-01'
    """
    moment = _read(value.strip()) if isinstance(value, str) else value
    fits = isinstance(moment, date if part != "hour" else datetime | time)
    if fits and moment == moment:  # pandas has a date that is none
        return _PARTS[part](moment)
    raise ValueError(f"there is no {part} in {value!r}")


def _read(text: str) -> date | time | None:
    """A date alone has no hour, and a time alone is known by its colon."""
    with suppress(ValueError):
        return date.fromisoformat(text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    with suppress(ValueError):
        return time.fromisoformat(text) if ":" in text else None
    return None
