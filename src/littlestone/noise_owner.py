"""What holds drawn noise is used once: by one process, by one caller at a time, step by step.

Noise protects only while nobody sees two different answers that were made with the same noise. A
copy, a forked child or a step that broke off half-way and is tried again would all show just that.
"""

import os
from typing import Any, Final, NoReturn, Self
from weakref import ref

from littlestone.errors import RetiredError

IN_A_STEP: Final = (
    "is in the middle of a step: an exception broke it off, or another thread is at it. Noise of "
    "that step may have been used, so a step that broke off is never tried again"
)
FORKED: Final = (
    "belongs to the process that made it, not to a fork: parent and child would use the same noise"
)


class NoiseOwner:
    """The base of every mechanism run, learner run and source of randomness.

    It cannot be copied or pickled. After a fork all owners are retired in the child. A step runs
    from ``_begin`` to ``_end``; one that does not get there, because an exception or a signal came
    in between, leaves its owner retired. Threads may take turns; one that comes in the middle of
    another's step is refused, and the other's step goes on undisturbed.
    """

    __slots__ = ("__weakref__", "_barred")

    _barred: str | None
    """Why no step may begin; None when one may. Inlined ``_begin`` and ``_end`` set it, too:
    CPython switches threads and delivers signals between calls, never between two attributes."""

    def __new__(cls, *args: Any, **named: Any) -> Self:
        # Not in __init__: runs that are restored from a state do not pass there.
        owner = super().__new__(cls)
        owner._barred = None
        _LIVE.add(ref(owner, _forget))
        return owner

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            f"a {type(self).__name__} cannot be copied or pickled: two copies would reuse the same "
            f"noise. Save a run with its snapshot() or state(), which may be continued once"
        )

    def _begin(self) -> None:
        """From here to ``_end`` noise is used.

        Validate input before it; but what the owner itself remembers, its horizon for one, only
        within the step: in between another thread may have taken the last round.
        """
        if self._barred:
            self._refuse()
        self._barred = IN_A_STEP  # straight after the test: no other thread in between

    def _end(self) -> None:
        if self._barred is IN_A_STEP:  # not if it was retired meanwhile
            self._barred = None

    def _break_off(self, refusal: Exception) -> NoReturn:
        """Refuse a step that has changed nothing yet; others may follow."""
        self._end()
        raise refusal

    def _require_usable(self) -> None:
        """For what reads the secrets without a step: a state to be saved, say."""
        if self._barred:
            self._refuse()

    def _refuse(self) -> None:
        raise RetiredError(f"this {type(self).__name__} {self._barred}. Start a new run")

    def _retire(self, reason: str) -> None:
        """Refuse every further step; reasons end the sentence "this run …"."""
        self._barred = reason


# A plain set of references, with its own ``discard`` called at their deaths: starting a run should
# cost little, and a WeakSet does this in Python.
_LIVE: "set[ref[NoiseOwner]]" = set()
_forget: Final = _LIVE.discard


def live_owners() -> list[NoiseOwner]:
    """All that exist in this process."""
    return [owner for known in list(_LIVE) if (owner := known()) is not None]


def _retire_all_after_fork() -> None:
    for owner in live_owners():
        owner._retire(FORKED)


os.register_at_fork(after_in_child=_retire_all_after_fork)
