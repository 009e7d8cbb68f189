"""Files that a command writes: never over what it reads, and whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def refuse_overlap(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], *, store: Path
) -> None:
    """Refuse an output that is an input, the store, its mark, another output, or out of reach."""
    taken = {name: path for name, path in inputs.items() if path is not None}
    taken |= {"the store": store, "the store's mark": store.with_name(store.name + ".mark")}
    for name, path in outputs.items():
        if path is None:
            continue
        for other, used in taken.items():
            if _same(path, used):
                raise ValueError(f"{name} must not overwrite {other}, got {name}={str(path)!r}")
        if path.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
            raise ValueError(f"{name} must be a file in a folder to write to, got {str(path)!r}")
        taken[name] = path


def write_whole(path: Path, text: str) -> None:
    """Write a file for its owner's eyes through a temporary one, which takes its place at last."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _same(one: Path, other: Path) -> bool:
    if one.is_file() and other.is_file():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)
