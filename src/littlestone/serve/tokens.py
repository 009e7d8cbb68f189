"""Who may do what: owners, writers and readers, each known by a token that only they have.

A token is 32 random bytes; the file holds its SHA-256 and never the token. Guessing one is
hopeless, so a fast hash is enough, and looking one up compares all entries in constant time.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

EVERY_RUN: Final = "*"


class Role(StrEnum):
    """What a token is good for; an owner may do everything, the others only their own part."""

    OWNER = "owner"
    WRITER = "writer"
    READER = "reader"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the file: a role, the run it is for (``*`` for every one), and a hash."""

    role: Role
    run: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Tokens:
    """All tokens that are known. ``open_reading`` lets everybody read what is published."""

    entries: tuple[Entry, ...]
    open_reading: bool = False

    @classmethod
    def fresh(cls, *, open_reading: bool = False) -> tuple["Tokens", dict[Role, str]]:
        """One new token for each role, for every run; the tokens are shown this once."""
        made = {role: secrets.token_urlsafe(32) for role in Role}
        entries = tuple(Entry(role, EVERY_RUN, digest(token)) for role, token in made.items())
        return cls(entries, open_reading), made

    @classmethod
    def from_file(cls, path: Path, *, open_reading: bool = False) -> "Tokens":
        """Read a file of lines ``role run sha256``; a file that others may read is refused."""
        mode = path.stat().st_mode
        if mode & 0o077:
            raise ValueError(
                f"token-file must be readable by its owner only, got {path} with mode "
                f"{mode & 0o777:o}; chmod 600 it"
            )
        return cls(tuple(_entries(path)), open_reading)

    def save(self, path: Path) -> None:
        """Write the hashes to a new file with mode 0600."""
        text = "".join(f"{entry.role} {entry.run} {entry.digest.hex()}\n" for entry in self.entries)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as stream:
            stream.write(text)

    def allows(self, token: str | None, role: Role, run: str) -> bool:
        """Whether the bearer may act in this role on this run; every entry is compared."""
        if role is Role.READER and self.open_reading:
            return True
        presented, found = digest(token or ""), False
        for entry in self.entries:
            same = hmac.compare_digest(entry.digest, presented)
            found |= same and entry.role in (role, Role.OWNER) and entry.run in (EVERY_RUN, run)
        return found and token is not None

    def scope(self, token: str | None) -> str:
        """A name for the bearer that says nothing about the token."""
        return hashlib.sha256(b"scope" + digest(token or "")).hexdigest()[:16]

    def known(self, token: str | None) -> bool:
        """Whether it is anybody's token: the difference between 401 and 403."""
        presented = digest(token or "")
        same = [hmac.compare_digest(entry.digest, presented) for entry in self.entries]
        return True in same


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
            role, run, hashed = line.split()
            known = bytes.fromhex(hashed)
            if len(known) != hashlib.sha256().digest_size:
                raise ValueError("too short")
            yield Entry(Role(role), run, known)
        except ValueError:
            raise ValueError(
                f"line {number} of {path} must be 'role run sha256' with role owner, writer or "
                f"reader and run a name or *"
            ) from None
