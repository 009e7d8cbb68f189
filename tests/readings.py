"""Rows read one by one, as the events that they are."""

from collections.abc import Iterator
from typing import Any

from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.readers import read_blocks, singly


def read(*given: Any, **options: Any) -> Iterator[Event | BadRow]:
    """What ``read_blocks`` yields, without its blocks."""
    return singly(read_blocks(*given, **options))
