"""Lock files on systems that support it: Linux and macOS.

Code that needs no lock (learning in memory, games, audits, bounds, predictions) works on other
systems; code that would be unsafe without a lock raises an error when it requests one.
"""

from pathlib import Path
from typing import IO

from littlestone.errors import LittlestoneError, StoreError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[bytes] | int, *, wait: bool = False) -> None:
    """Lock a file for this process alone, until it is closed.

    Args:
        file: An open file, or its descriptor.
        wait: Whether to wait for another process that holds it.

    Raises:
        BlockingIOError: Another process holds it.
        LittlestoneError: This system has no such locks.
    """
    if fcntl is None:
        raise LittlestoneError(
            "stores, budget books and registers need the file locks of Linux or macOS (fcntl), "
            "which this system does not have: two processes could spend the same noise"
        )
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def refuse_hard_links(path: Path) -> None:
    """Reject a file with several names, whose content is replaced under one of them."""
    if path.stat().st_nlink > 1:
        raise StoreError(
            f"{path} has hard links, and its other names would keep what it says now: delete them "
            f"(find -samefile lists them)"
        )
