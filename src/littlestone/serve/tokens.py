"""Who may do what: owners, writers and readers, each known by a token that only they have.

A token is 32 random bytes; the file holds its SHA-256 and never the token. Guessing one is
hopeless, so a fast hash is enough, and looking one up compares all entries in constant time. Each
entry has a holder: a name that stays when the token is rotated.
"""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

EVERY_RUN: Final = "*"
HOLDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # no slash: it ends the name


class Role(StrEnum):
    """What a token is good for; an owner may do everything, the others only their own part."""

    OWNER = "owner"
    WRITER = "writer"
    READER = "reader"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the file: a role, the run it is for (``*`` for every one), whose it is, a hash.

    Event ids belong to the ``holder``: two tokens of one holder are the same writer.
    """

    role: Role
    run: str
    holder: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Tokens:
    """All tokens that are known. ``open_reading`` lets everybody read what is published."""

    entries: tuple[Entry, ...]
    open_reading: bool = False

    def __post_init__(self) -> None:
        holders = dict[bytes, str]()
        for entry in self.entries:
            if holders.setdefault(entry.digest, entry.holder) != entry.holder:
                raise ValueError(
                    f"a token must have one holder, got {holders[entry.digest]!r} and "
                    f"{entry.holder!r} with the same hash; make a token for each"
                )

    @classmethod
    def fresh(cls, *, open_reading: bool = False) -> tuple["Tokens", dict[Role, str]]:
        """One new token for each role, for every run; its holder is called like the role.

        The tokens are returned this once, to be shown.
        """
        made = {role: secrets.token_urlsafe(32) for role in Role}
        entries = tuple(
            Entry(role, EVERY_RUN, role.value, digest(token)) for role, token in made.items()
        )
        return cls(entries, open_reading), made

    @classmethod
    def from_file(cls, path: Path, *, open_reading: bool = False) -> "Tokens":
        """Read a file of lines ``role run holder sha256``; refuse one that others may read."""
        mode = path.stat().st_mode
        if mode & 0o077:
            raise ValueError(
                f"token-file must be readable by its owner only, got {path} with mode "
                f"{mode & 0o777:o}; chmod 600 it"
            )
        return cls(tuple(_entries(path)), open_reading)

    def save(self, path: Path) -> None:
        """Write the hashes to a new file with mode 0600."""
        text = "".join(
            f"{entry.role} {entry.run} {entry.holder} {entry.digest.hex()}\n"
            for entry in self.entries
        )
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as stream:
            stream.write(text)

    def allows(self, token: str | None, role: Role, run: str) -> bool:
        """Whether the bearer may act in this role on this run; every entry is compared."""
        if role is Role.READER and self.open_reading:
            return True
        return any(
            entry.role in (role, Role.OWNER) and entry.run in (EVERY_RUN, run)
            for entry in self._entries_of(token)
        )

    def holder(self, token: str | None) -> str | None:
        """Whose token it is; None if it is unknown: the difference between 401 and 403."""
        return next((entry.holder for entry in self._entries_of(token)), None)

    def _entries_of(self, token: str | None) -> list[Entry]:
        presented = digest(token or "")
        found = [one for one in self.entries if hmac.compare_digest(one.digest, presented)]
        return [] if token is None else found


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def described(tokens: Mapping[Role, str]) -> Iterable[str]:
    """The tokens as lines to show once."""
    return (f"{role:>6}  {token}" for role, token in tokens.items())


def _entries(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            role, run, holder, hashed = line.split()
            known = bytes.fromhex(hashed)
            if len(known) != hashlib.sha256().digest_size or not HOLDER.fullmatch(holder):
                raise ValueError
            yield Entry(Role(role), run, holder, known)
        except ValueError:
            raise ValueError(
                f"line {number} of {path} must be 'role run holder sha256' with role owner, writer "
                f"or reader, run a name or *, and holder a name of letters, digits, '.', '-', '_'"
            ) from None
