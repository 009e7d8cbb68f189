"""Four threads that are switched as often as the interpreter can: they meet where they may."""

import sys
import threading
from collections.abc import Callable


def together(work: Callable[[], object]) -> None:
    """Do the same in all of them; returns when all are done."""
    threads = [threading.Thread(target=work) for _ in range(4)]
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(patience)
