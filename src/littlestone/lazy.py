"""Parts of a saved state are decoded only when they are used."""

from collections.abc import Callable
from typing import Any, Self


class Lazy:
    """The base of state that most steps of most runs do not use.

    Its objects keep their data in ``__dict__``. One that ``from_reader`` makes is empty until an
    attribute is read; until then it equals what was saved, so it need not be encoded again.
    """

    _read: Callable[[], Any]
    """Only while nothing is loaded."""
    is_unloaded: bool = False
    """Whether ``read`` has not been called yet."""

    @classmethod
    def from_reader(cls, read: Callable[[], Self]) -> Self:
        """Return an object that calls ``read`` once, when an attribute is first used."""
        lazy = cls.__new__(cls)
        lazy._read, lazy.is_unloaded = read, True
        return lazy

    def __getattr__(self, name: str) -> Any:
        read = vars(self).pop("_read", None)
        if read is None:
            raise AttributeError(f"a {type(self).__name__} has no {name}")
        del self.is_unloaded
        vars(self).update(vars(read()))
        return getattr(self, name)
