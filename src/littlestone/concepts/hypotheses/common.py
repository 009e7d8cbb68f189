"""Code shared by hypotheses: a JSON form, exports, a search for differences."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, Final, Self

import numpy as np

from littlestone import require
from littlestone.concepts.domain import block_of
from littlestone.concepts.hypotheses.python_source import python_source
from littlestone.concepts.hypotheses.sql_source import Dialect, sql_source
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.type_checks import fits, hints_of

_hints: Final[Callable[[Any], dict[str, Any]]] = cache(
    lambda kind: {name: hint for name, hint in hints_of(kind).items() if name != "kind"}
)
"""The fields of a class, with their annotations."""


@require.checked
class Exported(Hypothesis):
    """Exports a hypothesis as Python source, SQL, or text of several lines."""

    __slots__ = ()

    def to_python(self) -> str:
        """Return a Python module with a function ``rule`` of one point and no dependencies."""
        return python_source(self)

    def to_sql(self, dialect: Dialect = "postgresql") -> str:
        """Return an SQL expression for the label of each row, for rules over records.

        NULL and undeclared values count as the field's stand-in, as in ``littlestone predict``.
        """
        return sql_source(self, dialect)

    def text(self) -> str:
        """Return the rule as text that a person can apply by hand."""
        return self.describe()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


@require.checked
class Written(Exported):
    """A frozen dataclass of integers, None, tuples, and parts with a JSON form.

    Tuples are written as lists. ``from_json`` reads what ``to_json`` wrote; for anything else it
    raises a ValueError that names the field.
    """

    __slots__ = ()

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the kind and the fields."""
        written = {name: _as_json(getattr(self, name)) for name in _hints(type(self))}
        return {"kind": self.kind, **written}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read back what ``to_json`` wrote."""
        return cls(**{name: _value(data, name, hint) for name, hint in _hints(cls).items()})


def _as_json(value: Any) -> Any:
    if value is None or type(value) is int:
        return value
    if isinstance(value, tuple):
        return list(map(_as_json, value))
    return int(value) if isinstance(value, Integral) else value.to_json()  # a label may be True


def _value(data: dict[str, Any], name: str, hint: Any) -> Any:
    if hasattr(hint, "from_json"):
        return hint.from_json(data.get(name))
    value = _in_tuples(data.get(name, ...))
    if not fits(value, hint):
        wanted = hint.__name__ if isinstance(hint, type) else str(hint).replace("tuple", "list")
        raise ValueError(f"{name} must be of the kind {wanted}, got {name}={data.get(name)!r}")
    return value


def _in_tuples(value: Any) -> Any:
    return tuple(map(_in_tuples, value)) if type(value) is list else value


_BLOCK = 1 << 14
_SHOWN = 6


def first_seen_difference(
    left: Hypothesis,
    right: Hypothesis,
    domain: Domain,
    points: Iterable[Any] | None = None,
    most: int | None = None,
) -> Any:
    """Return the first point on which the two differ, or None.

    Scans ``points``, by default the whole domain; raises a ValueError after ``most`` points without
    a difference.
    """
    remaining, seen = iter(domain if points is None else points), 0
    while block := list(islice(remaining, _BLOCK)):
        rows = block_of(domain, block)
        differs = np.flatnonzero(left.many(rows) != right.many(rows))
        if differs.size:
            return block[int(differs[0])]
        seen += len(block)
        if most is not None and seen >= most:
            raise ValueError(
                f"no difference was found in the first {seen} points of a larger domain; compare "
                f"the rules over "
                f"a smaller one"
            )
    return None


def shown(words: Sequence[str], most: int = _SHOWN) -> list[str]:
    """Join the first ``most`` words; an ellipsis marks that there are more."""
    return [*words[:most], "…"] if len(words) > most else list(words)
