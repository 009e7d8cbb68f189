"""One battery holds every journal to the same kills, rollbacks, damages and duplicates."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.journal_battery import CHECKS, Bench, frequent_checkpoints
from tests.journal_benches import LinesBench, MemoryBench, SqliteBench

from littlestone.errors import StoreError
from littlestone.runs.journal.protocol import Entry, MemoryJournal, MemoryPlace

__all__ = ["frequent_checkpoints"]

BENCHES: dict[str, Callable[[Path], Bench]] = {
    "memory": lambda folder: MemoryBench(),
    "sqlite": SqliteBench,
    "lines, from outside": LinesBench,
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("journal", BENCHES)
def test_every_journal(journal: str, check: str, folder_in_memory: Path) -> None:
    check_journal = CHECKS[check]
    check_journal(BENCHES[journal](folder_in_memory))


class HalfWritten(MemoryJournal):
    """Writes entry by entry."""

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        for entry in new:
            super().write([entry], round_number=self._position.round)
        super().write([], drop=drop, round_number=round_number)


class Unmarked(MemoryJournal):
    """Trusts every copy."""

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        self._place.mark = None
        return super().enter(round_number, adopt=True)


class OneBranch(MemoryJournal):
    """Counts rounds, and does not tell one opening from another."""

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        branch = self._place.branch
        adopted = super().enter(round_number, adopt=adopt)
        self._place.branch = branch
        self._position = self._place.mark = self._position._replace(branch=branch)
        return adopted


class Unlocked(MemoryJournal):
    """Lets a second one in."""

    def __init__(self, place: MemoryPlace) -> None:
        place.held = False
        super().__init__(place)


class Forgetful(MemoryJournal):
    """Says that it is done before it is."""

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        for entry in getattr(self, "late", []):
            self._place.entries[entry.kind][entry.number] = entry.body
        super().write([], drop=drop, round_number=round_number)
        self.late = list(new)


class Hoarding(MemoryJournal):
    """Never drops anything."""

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        super().write(new, round_number=round_number)


class Replacing(MemoryJournal):
    """Writes over what is there."""

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        for entry in new:
            self._place.entries[entry.kind].pop(entry.number, None)
        super().write(new, drop=drop, round_number=round_number)


CAUGHT = {
    HalfWritten: "it_writes_all_or_nothing",
    Unmarked: "an_old_copy_is_refused",
    OneBranch: "a_copy_that_was_opened_alone_is_refused",
    Unlocked: "it_lets_one_in_at_a_time",
    Forgetful: "kills_lose_nothing",
    Hoarding: "it_drops_what_it_is_told_to",
    Replacing: "it_writes_all_or_nothing",
}


@pytest.mark.parametrize("broken", CAUGHT)
def test_a_broken_journal_is_caught(
    broken: type[MemoryJournal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("littlestone.runs.journal.protocol.MemoryJournal", broken)
    with pytest.raises((AssertionError, pytest.fail.Exception, StoreError)):
        CHECKS[CAUGHT[broken]](MemoryBench())
