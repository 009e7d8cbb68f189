"""A bound knows its function, its side and its source, and becomes a row at a setting."""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from littlestone.bounds.setting import Setting

SIDES: Final = {
    "_upper_bound": "at most",
    "_lower_bound": "at least",
    "_floor": "at least",
    "_order": "of order",
    "_plan": "at most",
}
_CITATION: Final = re.compile(r"\s*\[(P, [^\]]+|[A-Z]+\d\d[^\]]*)\]")


# Where arguments come from that a setting does not have under their own names.
_USUAL_WORDS: Final = """
    layer=dimension left=dimension right=dimension littlestone_dimension=dimension
    vc_dimension=dimension threshold=samples elements=samples variables=samples mean=samples
    gap=error share=error additive=error length=rounds most=rounds experts=concepts size=subsampled
    above_threshold_epsilon=half_epsilon threshold_epsilon=half_epsilon query_epsilon=half_epsilon
    collisions=half_slots next_slots=half_slots factor=inverse_error offset=inverse_error
    inner_epsilon=epsilon inner_delta=delta dimensions=three
    arity=3 members=3 batch=1 relative=0.5 margin=0.2 charge=1.0
"""


def _pairs(words: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in words.split())


USUAL: Final = _pairs(_USUAL_WORDS)


@dataclass(frozen=True, slots=True)
class Bound:
    """One function of ``theory/``, what it bounds, and where its arguments come from."""

    group: str
    quantity: str
    function: Callable[..., Any]
    instead: str = ""
    """What is not ``USUAL``: ``points=samples``, or ``delta=delta``, which has a default."""

    @property
    def name(self) -> str:
        """The module and the function without its side, which is a column of its own."""
        module = self.function.__module__.rpartition(".")[2].removesuffix("_bounds")
        name = self.function.__name__.removesuffix(self._suffix)
        return f"{module}: {name}".replace("_", " ")

    @property
    def side(self) -> str:
        return SIDES[self._suffix]

    @property
    def words(self) -> str:
        """The first paragraph of its docstring without citations: the formula, what it is for."""
        first = _CITATION.sub("", str(self.function.__doc__).split("\n\n")[0]).replace("``", "")
        return re.sub(r"\s+", " ", first)

    @property
    def source(self) -> str:
        """The statement it comes from, as its docstring cites it, or "here"."""
        cited = _CITATION.search(str(self.function.__doc__))
        return re.sub(r"\s+", " ", cited[1]) if cited else "here"

    @property
    def _suffix(self) -> str:
        return next(end for end in SIDES if self.function.__name__.endswith(end))

    @property
    def needs(self) -> Mapping[str, str]:
        """Where each argument comes from: a number of the setting, or one that is written out."""
        usual = {name: USUAL.get(name, name) for name in _asked(self.function)}
        return usual | _pairs(self.instead)

    def at(self, setting: Setting) -> "Row":
        """The number, or why there is none."""
        try:
            given = {
                name: setting[source] if source.isidentifier() else json.loads(source)
                for name, source in self.needs.items()
            }
            found = self.function(**given)
        except ValueError as refusal:
            return Row(self, None, str(refusal))
        except OverflowError:
            return Row(self, None, "needs numbers that are too large for a float")
        # A plan is a set of parameters with the mistakes that they prove.
        return Row(self, getattr(found, "mistakes", found), None)


def _asked(function: Callable[..., Any]) -> Iterator[str]:
    """The arguments that have no default; those of a typed dictionary, too."""
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is argument.VAR_KEYWORD:
            yield from argument.annotation.__args__[0].__annotations__
        elif argument.default is argument.empty:
            yield argument.name


@dataclass(frozen=True, slots=True)
class Row:
    """A bound at a setting: its value, or the reason for having none."""

    bound: Bound
    value: int | float | Fraction | None
    refusal: str | None

    @property
    def log2(self) -> float | None:
        """The binary logarithm, which fits where the number does not; none of 0 or less."""
        if self.value is None or self.value <= 0:
            return None
        if isinstance(self.value, Fraction):
            return math.log2(self.value.numerator) - math.log2(self.value.denominator)
        return math.log2(self.value)

    @property
    def text(self) -> str:
        """Four digits, or 2^x for what nobody can read otherwise."""
        if self.value is None:
            return "–"
        exponent = self.log2
        if exponent is not None and abs(exponent) >= 30:
            return f"2^{exponent:.1f}" if abs(exponent) < 1000 else f"2^{exponent:.0f}"
        number = float(self.value)
        return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"

    def to_json(self) -> dict[str, Any]:
        exponent = self.log2
        value = self.value if exponent is None or abs(exponent) < 1000 else None
        return {
            "group": self.bound.group,
            "bound": self.bound.name,
            "side": self.bound.side,
            "quantity": self.bound.quantity,
            "value": None if value is None else float(value),
            "log2": exponent,
            "source": self.bound.source,
            "says": self.bound.words,
            "needs": " ".join(f"{name}={source}" for name, source in self.bound.needs.items()),
            "refusal": self.refusal,
        }
