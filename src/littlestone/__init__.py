"""Differentially private online learning against an adaptive adversary.

The public names are those that ``__init__.pyi`` imports: type checkers read that list, and so does
this module, which imports a name when it is first asked for. So the command line starts quickly.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any, Final

__version__ = "0.1.0"

_HOMES: Final = {
    alias.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'littlestone' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
