"""Put something else in an attribute's place, for as long as a block lasts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, **substitutes: Any) -> Iterator[None]:
    """Within it, the named attributes of a class or module are the substitutes.

    >>> import math
    >>> with replaced(math, tau=1.0):
    ...     math.tau
    1.0
    >>> math.tau > 6
    True
    """
    originals = {name: vars(owner)[name] for name in substitutes}
    try:
        for name, substitute in substitutes.items():
            setattr(owner, name, substitute)
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)
