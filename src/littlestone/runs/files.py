"""Write files of a run: secrets for their owner only, and outputs that are complete or absent."""

import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from littlestone.errors import StoreError
from littlestone.randomness.word_sources import labelled_keys

BESIDE: Final = (".mark", "-wal", "-shm", "-journal")
"""How the names of a store's mark and of SQLite's temporary files end."""


def files_beside(store: Path) -> list[Path]:
    """Return the mark of a store, and the temporary files of SQLite."""
    return [store.with_name(store.name + ending) for ending in BESIDE]


def refuse_beside(path: Path) -> None:
    """Reject a name for a store, or for its secret, that is kept for a file beside a store."""
    if path.name.endswith(BESIDE):
        raise StoreError(
            f"{path} cannot be a store: a file of this name lies beside a store, and is "
            f"written and deleted with it; choose another name"
        )


def refuse_overlap(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, store: Path
) -> None:
    """Reject an output that is not writable or would replace another of these files.

    No input may lie where the store writes and deletes files of its own.
    """
    taken = {name: path for name, path in inputs.items() if path is not None}
    beside = {f"the store's {path.name}": path for path in files_beside(store)}
    for name, given in taken.items():
        for other, used in beside.items():
            if _same_file(given, used):
                raise ValueError(f"{name} must not be {other}, which is written and deleted")
    taken |= {"the store": store, **beside}
    for name, path in outputs.items():
        if path is None:
            continue
        for other, used in taken.items():
            if _same_file(path, used):
                raise ValueError(f"{name} must not overwrite {other}, got {name}={str(path)!r}")
        writable = _is_stream(path) or os.access(path.parent, os.W_OK | os.X_OK)
        if path.is_dir() or not writable:
            raise ValueError(f"{name} must be a file in a writable folder, got {str(path)!r}")
        taken[name] = path


def write_whole(path: Path, text: str) -> None:
    """Write a file for its owner only, synced, to a draft that then replaces it.

    A device or a pipe is written to: a file in its place would break it for everyone.
    """
    if _is_stream(path):
        path.write_text(text, encoding="utf-8")
        return
    path = Path(os.path.realpath(path))  # /dev/stdout and the like are links
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def sync_folder(path: Path) -> None:
    """Sync a folder, so that a rename in it survives a power failure."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_stream(path: Path) -> bool:
    """Return whether there is a device, a pipe or a socket, perhaps behind a link."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _same_file(one: Path, other: Path) -> bool:
    if one.is_file() and other.is_file():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def create_secret(path: Path, secret: bytes | None = None) -> bytes:
    """Write a secret to a new file; fresh unless given, and never over an existing file."""
    secret = secrets.token_bytes(32) if secret is None else secret
    refuse_secret(path)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w") as text:
        text.write(secret.hex() + "\n")
        text.flush()
        os.fsync(file)
    return secret


def refuse_secret(path: Path) -> None:
    """Reject a path for a new secret where anything exists."""
    if os.path.lexists(path):
        raise StoreError(
            f"{path} exists: each fleet has one secret, and a lost secret is a lost fleet. "
            f"Choose another file"
        )


def read_secret(path: Path) -> bytes:
    """Read a secret from a file that only its owner can read."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(file) as text:
        mode = stat.S_IMODE(os.fstat(file).st_mode)
        if mode & 0o077:
            raise StoreError(
                f"{path} can be read by others (mode {mode:o}), who could remove the noise from "
                f"what was published. Run chmod 600 on it, and treat the secret as leaked"
            )
        try:
            secret = bytes.fromhex(text.read().strip())
        except ValueError:
            secret = b""
    if len(secret) != 32:
        raise StoreError(f"{path} holds no secret of a fleet: it must hold 64 hexadecimal digits")
    return secret


def fingerprint(secret: bytes) -> bytes:
    """Return a fingerprint that tells secrets apart and reveals nothing about them."""
    return labelled_keys(secret, b"fingerprint")[0][:16]


def secret_of(path: Path, expected: bytes) -> bytes:
    """Read the secret in a file; reject it unless its fingerprint is that of the fleet."""
    secret = read_secret(path)
    if fingerprint(secret) != expected:
        raise StoreError(f"{path} is not the secret of this fleet; give the one made with it")
    return secret
