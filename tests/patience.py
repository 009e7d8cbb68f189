"""How long a test waits for what will surely happen; nothing here is a claim about speed.

A machine may be busy with other work, so whoever waits gives up only when something hangs.
"""

import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 600.0  # seconds


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until ``condition()`` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)
