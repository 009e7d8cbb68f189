"""How Coq writes an instance, and adversaries that are tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, Final

BASES: Final = (Fraction(1, 2), Fraction(1, 3), Fraction(2, 3))


@dataclass(frozen=True, slots=True)
class Instance:
    """One line for Coq, true if the two laws are equal, and how many probabilities it has."""

    kind: str
    line: str
    probabilities: int


# How Coq writes things.


def fraction(value: Fraction) -> str:
    return f"({value.numerator:#x} # {value.denominator:#x})%Q"


def boolean(value: Any) -> str:
    return "true" if value else "false"


def integer(value: int) -> str:
    return f"({value:#x})%Z"


def number(value: int) -> str:
    return f"{value}%nat"


def listed(values: Iterable[str]) -> str:
    return f"[{'; '.join(values)}]"


def optional(value: int | None) -> str:
    return "None" if value is None else f"Some {value}%nat"


def law_table(law: dict[int, Fraction]) -> str:
    return listed(f"({code}%N, {fraction(p)})" for code, p in sorted(law.items()))


class Strategy:
    """An adversary: for each view one example, drawn when it is first asked for."""

    def __init__(self, random: Random, draw: Callable[[Random], Any]) -> None:
        self._random, self._draw = random, draw
        self.examples: dict[int, Any] = {}

    def __call__(self, view: int) -> Any:
        if view not in self.examples:
            self.examples[view] = self._draw(self._random)
        return self.examples[view]

    def table(self, shown: Callable[[Any], str]) -> str:
        pairs = sorted(self.examples.items())
        return listed(f"({view}%N, {shown(example)})" for view, example in pairs)
