"""Keep a bounded number of games; the longest idle one is dropped."""

import secrets
from collections import OrderedDict
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

from littlestone import require

MOST_SESSIONS: Final = 32

Game = TypeVar("Game")


class Session(NamedTuple, Generic[Game]):
    """A game, and the lock that each move in it takes."""

    game: Game
    lock: Lock


class Sessions(Generic[Game]):
    """Games by a name that cannot be guessed.

    >>> sessions = Sessions[str](most=2)
    >>> names = [sessions.add(game) for game in ("a", "b")]
    >>> sessions[names[0]].game, sessions.add("c") in names
    ('a', False)
    >>> names[0] in sessions, names[1] in sessions
    (True, False)
    """

    def __init__(self, *, most: int = MOST_SESSIONS) -> None:
        require.integer(most=most, at_least=1)
        self._most = most
        self._sessions: OrderedDict[str, Session[Game]] = OrderedDict()

    def add(self, game: Game) -> str:
        """Add a game; return its name."""
        while len(self._sessions) >= self._most:
            self._sessions.popitem(last=False)
        name = secrets.token_urlsafe(16)
        self._sessions[name] = Session(game, Lock())
        return name

    def __getitem__(self, name: str) -> Session[Game]:
        self._sessions.move_to_end(name)
        return self._sessions[name]

    def __contains__(self, name: str) -> bool:
        return name in self._sessions

    def __len__(self) -> int:
        return len(self._sessions)
