"""Find the store of a run: a file, or the address of a database."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, TypeGuard, overload, runtime_checkable

from littlestone.runs.journal.protocol import Place
from littlestone.runs.journal.sqlite import SqlitePlace

_ADDRESSES: Final = ("postgresql://", "postgres://")


@runtime_checkable
class LocalPlace(Place, Protocol):
    """A place with a local file, beside which its mark lies."""

    file: Path

    def discard(self) -> None:
        """Delete a run that has read nothing."""


def is_address(store: object) -> TypeGuard[str]:
    """Return whether a store is the address of a database."""
    return isinstance(store, str) and store.startswith(_ADDRESSES)


@overload
def place_of(store: str | Path) -> LocalPlace: ...


@overload
def place_of(store: Place) -> Place: ...


def place_of(store: str | Path | Place) -> Place:
    """Return the place of a store: a path, the address of a database, or a place itself.

    ``postgresql://user@host/name#shop.secret`` is in that database; its key is in the local file
    ``shop.secret`` (by default ``littlestone.secret``), and its mark beside that file.
    """
    if is_address(store):
        if find_spec("psycopg") is None:
            raise ValueError("store needs psycopg: run pip install 'littlestone[fleet]'")
        from littlestone.runs.journal.postgresql import PostgresPlace  # noqa: PLC0415 (optional)

        dsn, secret = _split(store)
        return PostgresPlace(dsn, Path(secret or "littlestone.secret"))
    return SqlitePlace(store) if isinstance(store, str | Path) else store


def home_of(store: str | Path) -> tuple[Path, Callable[[Path], LocalPlace]]:
    """Return the local folder of many runs, and a function from a folder to its place.

    ``postgresql://user@host/name#FOLDER`` has secrets and marks in the local FOLDER, by default
    ``runs``.
    """
    if not is_address(store):
        return Path(store), lambda folder: place_of(folder / "store")
    dsn, folder = _split(store)
    return Path(folder or "runs"), lambda inner: place_of(f"{dsn}#{inner / 'secret'}")


def _split(address: str) -> tuple[str, str]:
    """Split an address from the local file or folder after its last ``#``, if it has one."""
    dsn, _, local = address.rpartition("#") if "#" in address else (address, "", "")
    if "/" not in dsn.partition("://")[2] and "@" in local:  # never quote half of a password
        raise ValueError(
            "store must have no # in front of the @ of its address: write the # of a password as "
            "%23, and FILE after the name of the database, as in postgresql://user@host/name#FILE"
        )
    return dsn, local


def shown(store: str) -> str:
    """Return a store as it was given, without the password in an address."""
    return str(place_of(store)) if is_address(store) else store
