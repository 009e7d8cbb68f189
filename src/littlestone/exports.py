"""Public names: a package exports what the stub beside its ``__init__.py`` imports.

Type checkers read that list, and so does the package itself, which imports a name when it is first
used. So the command line starts quickly, and there is one list to keep.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).parent


def exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose stub lists its public names.

    The stub has the name of its ``__file__`` and the suffix ``.pyi``.
    """

    @cache
    def homes() -> dict[str, str]:
        """Return where each public name is defined; ``import X as X`` in a stub exports X."""
        lines = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
        return {
            alias.name: str(line.module)
            for line in lines
            if isinstance(line, ast.ImportFrom)
            for alias in line.names
            if alias.asname == alias.name
        }

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        home = homes().get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_package = _ROOT.joinpath(*home.split(".")[1:], name, "__init__.py").exists()
        found = (
            import_module(f"{home}.{name}") if is_package else getattr(import_module(home), name)
        )
        setattr(sys.modules[package], name, found)  # the next use finds it there
        return found

    return get, lambda: sorted(homes())
