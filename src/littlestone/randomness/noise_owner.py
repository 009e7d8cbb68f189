"""An object that holds drawn noise belongs to one process and takes one step at a time.

Two different answers made with the same noise reveal data. A copy, a forked child or the retry of a
step that failed half-way would each produce such answers, so this base class prevents all three.
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
    from ``_begin`` to ``_end``; if an exception or a signal prevents ``_end``, the owner is
    retired. Threads may take turns; a thread that calls during another's step gets an error, and
    the step is not disturbed.
    """

    __slots__ = ("__weakref__", "_barred")

    _barred: str | None
    """Why no step may begin; None when one may. Inlined ``_begin`` and ``_end`` set it, too:
    CPython switches threads and delivers signals between calls, never between two attributes."""

    def __new__(cls, *args: Any, **named: Any) -> Self:
        # Not in __init__, which restored runs do not call.
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
        """Begin a step, which uses noise until ``_end``.

        Validate input before the step, but check the owner's own state (its horizon, say) within
        it: another thread may take the last round in between.
        """
        if self._barred:
            self._refuse()
        self._barred = IN_A_STEP  # directly after the test, so that no thread gets in between

    def _end(self) -> None:
        if self._barred is IN_A_STEP:  # unless it was retired meanwhile
            self._barred = None

    def _break_off(self, refusal: Exception) -> NoReturn:
        """End a step that has changed nothing and raise ``refusal``."""
        self._end()
        raise refusal

    def _require_usable(self) -> None:
        """Raise unless a step could begin; for saving a state outside a step."""
        if self._barred:
            self._refuse()

    def _refuse(self) -> None:
        raise RetiredError(f"this {type(self).__name__} {self._barred}. Start a new run")

    def _retire(self, reason: str) -> None:
        """Refuse every further step; ``reason`` ends the sentence "this run …"."""
        self._barred = reason


# A set of weak references whose callback is the set's own ``discard``: a WeakSet is slower.
_LIVE: "set[ref[NoiseOwner]]" = set()
_forget: Final = _LIVE.discard


def live_owners() -> list[NoiseOwner]:
    """Return all noise owners of this process."""
    return [owner for known in list(_LIVE) if (owner := known()) is not None]


def _retire_all_after_fork() -> None:
    for owner in live_owners():
        owner._retire(FORKED)


os.register_at_fork(after_in_child=_retire_all_after_fork)
