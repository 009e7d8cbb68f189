"""The secret of a fleet: 32 random bytes in a file of its own, for its owner's eyes alone."""

import os
import secrets
import stat
from pathlib import Path

from littlestone.errors import StoreError
from littlestone.word_sources import labelled_keys


def create_secret(path: Path) -> bytes:
    """A fresh secret in a new file; one that exists is never overwritten."""
    secret = secrets.token_bytes(32)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise StoreError(
            f"{path} exists: a secret is made once for each fleet, and whoever loses it loses the "
            f"fleet. Name another file"
        ) from None
    with os.fdopen(file, "w") as text:
        text.write(secret.hex() + "\n")
        text.flush()
        os.fsync(file)
    return secret


def read_secret(path: Path) -> bytes:
    """The secret, from a file that nobody else may read."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(file) as text:
        mode = stat.S_IMODE(os.fstat(file).st_mode)
        if mode & 0o077:
            raise StoreError(
                f"{path} may be read by others (mode {mode:o}): whoever has it can take the noise "
                f"off what was published. chmod 600 it, and consider it known if it was not so"
            )
        try:
            secret = bytes.fromhex(text.read().strip())
        except ValueError:
            secret = b""
    if len(secret) != 32:
        raise StoreError(f"{path} holds no secret of a fleet: 64 hexadecimal digits were expected")
    return secret


def fingerprint(secret: bytes) -> bytes:
    """What tells secrets apart and says nothing about them."""
    return labelled_keys(secret, b"fingerprint")[0][:16]


def secret_of(path: Path, expected: bytes) -> bytes:
    """The secret in a file; refused unless its fingerprint is the fleet's."""
    secret = read_secret(path)
    if fingerprint(secret) != expected:
        raise StoreError(f"{path} is not the secret of this fleet")
    return secret
