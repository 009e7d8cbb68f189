"""What is read from a saved state only when somebody asks for it."""

from collections.abc import Callable
from typing import Any, Self


class Unread:
    """The base of what most steps of most runs do not look at.

    Its objects keep what they know in ``__dict__``. One that comes from ``from_reader`` is empty
    until somebody asks for anything in it; as long as nobody does, it is what was saved, and need
    not be written anew either.
    """

    _read: Callable[[], Any]
    """Of an unread one only."""

    @classmethod
    def from_reader(cls, read: Callable[[], Self]) -> Self:
        """The object that ``read`` will give, which is called once and by the first who asks."""
        unread = cls.__new__(cls)
        unread._read = read
        return unread

    @property
    def is_unread(self) -> bool:
        return "_read" in vars(self)

    def __getattr__(self, name: str) -> Any:
        read = vars(self).pop("_read", None)
        if read is None:
            raise AttributeError(f"a {type(self).__name__} has no {name}")
        vars(self).update(vars(read()))
        return getattr(self, name)
