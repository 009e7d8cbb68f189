"""Describe a bound (function, side, source) and evaluate it at a setting."""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

from littlestone import require
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory import expert_bounds, realizable_bounds
from littlestone.theory.above_threshold_bounds import one_sided_early_upper_bound
from littlestone.theory.concentration import coupon_cells_upper_bound
from littlestone.theory.golowich_livni_bounds import selections_upper_bound
from littlestone.theory.sanitization import subsampled_samples_upper_bound

LARGEST_DIMENSION: Final = 6
"""Beyond it, computing the paper's sharpest numbers (thousands of digits) takes minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Nine numbers; further arguments of some bounds are derived from them by ``CHOSEN``."""

    rounds: int = 10**6
    epsilon: float = 1.0
    delta: float = 1e-6
    failure_probability: float = 0.05
    dimension: int = 2
    concepts: int = 1024
    points: int = 1024
    samples: int = 10**5
    error: float = 0.1

    def __post_init__(self) -> None:
        require.integer(
            rounds=self.rounds, concepts=self.concepts, samples=self.samples, at_least=2
        )
        require.integer(dimension=self.dimension, points=self.points, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(
            delta=self.delta, failure_probability=self.failure_probability, error=self.error
        )
        if self.dimension > LARGEST_DIMENSION:
            raise ValueError(
                f"dimension must be at most {LARGEST_DIMENSION}, got dimension={self.dimension}: "
                f"the paper's numbers are doubly exponential in it"
            )

    def __getitem__(self, name: str) -> Any:
        """Return one of the nine numbers, or one derived from them."""
        return _chosen(self, name) if name in CHOSEN else getattr(self, name)

    def of(self, function: Callable[..., Any], *names: str, **instead: Any) -> Any:
        """Apply a function to the numbers that its parameters name."""
        return function(**{name: self[name] for name in names}, **instead)


CHOSEN: Final[Mapping[str, Callable[[Numbers], Any]]] = {
    "half_epsilon": lambda s: s.epsilon / 2,
    "zcdp": lambda s: s.of(ZeroConcentrated.largest, "epsilon", "delta").rho,
    "half_zcdp": lambda s: s.of(ZeroConcentrated.largest, "delta", epsilon=s.epsilon / 2).rho,
    # √T: rounds of a batch, or switches of a lazy algorithm.
    "root": lambda s: math.isqrt(s.rounds),
    "per_round": lambda s: s.failure_probability / s.rounds,
    "rate": lambda s: s["dartboard"][0],
    "fake": lambda s: s["dartboard"][1],
    "dartboard_switches": lambda s: s["dartboard"][2],
    # Noisy losses of unrelated experts: batches of 3.5 standard deviations are nearly optimal.
    "noisy_batch": lambda s: min(s.rounds, math.ceil(3.5 * math.sqrt(s["one_variance"]))),
    "noise_variance": lambda s: (-(-s.rounds // s["noisy_batch"]) - 1) * s["one_variance"],
    "one_variance": lambda s: expert_bounds.noisy_losses_variance_upper_bound(
        experts=s.concepts, zcdp=s["zcdp"]
    ),
    "dartboard": lambda s: _dartboard(s.rounds, s.concepts, s["zcdp"]),
    # 2^d: the leaves of a tournament of Golowich and Livni.
    "leaves": lambda s: 2**s.dimension,
    "selections": lambda s: s.of(selections_upper_bound, "leaves"),
    "instances": lambda s: s.of(realizable_bounds.instances_upper_bound, "dimension"),
    "slots": lambda s: s.of(
        realizable_bounds.slots_upper_bound,
        *("dimension", "epsilon", "delta", "failure_probability"),
    ),
    "half_slots": lambda s: s["slots"] // 2,
    # An eighth of all pairs: the proof allows a quarter of those that collide.
    "guess_slack": lambda s: s["half_slots"] / 4,
    # A quarter of the rest after the guesses.
    "matching_slack": lambda s: s["half_slots"] / 384,
    "cells": lambda s: s.of(coupon_cells_upper_bound, "failure_probability"),
    "bins": lambda s: 4 * s["cells"],
    "draws": lambda s: 8 * s["cells"],
    # αn: a share of the samples as a number.
    "deviation": lambda s: s.error * s.samples,
    # The early error of AboveThreshold, whose mean is bounded.
    "tail": lambda s: partial(one_sided_early_upper_bound, rounds=s.rounds, epsilon=s.epsilon),
    "three": lambda s: [s.dimension] * 3,
    "inverse_error": lambda s: s.dimension / s.error,
    "subsampled": lambda s: s.of(subsampled_samples_upper_bound, "samples", epsilon=1.0),
    # Hedge's regret on every √T-th round.
    "copy_regret": lambda s: expert_bounds.hedge_regret_upper_bound(
        experts=s.concepts, rounds=-(-s.rounds // s["root"])
    ),
}


@lru_cache(maxsize=512)
def _chosen(setting: Numbers, name: str) -> Any:
    return CHOSEN[name](setting)


def _dartboard(rounds: int, experts: int, zcdp: float) -> tuple[float, float, int]:
    """Return a rate (Hedge's, halved until it fits), a fake-switch probability and switches."""
    rate = min(0.5, math.sqrt(8 * math.log(experts) / rounds))
    while True:
        # Half of ρ pays for the bit that depends on the replaced round, about (η/p)²/8.
        fake = min(0.5, rate / (2 * math.sqrt(zcdp)))
        switches = expert_bounds.dartboard_switches_upper_bound(
            rounds=rounds, batch=1, rate=rate, fake=fake
        )
        cost = expert_bounds.dartboard_zcdp_upper_bound(rate=rate, fake=fake, switches=switches)
        if cost <= zcdp:
            return rate, fake, switches
        rate /= 2


SIDES: Final = {
    "_upper_bound": "at most",
    "_lower_bound": "at least",
    "_order": "of order",
    "_plan": "at most",
}
_CITATION: Final = re.compile(r"\s*\[(P, [^\]]+|[A-Z]+\d\d[^\]]*)\]")


# The sources of arguments that a setting has under other names.
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
    """One function of ``theory/``, what it bounds, and the sources of its arguments."""

    group: str
    quantity: str
    function: Callable[..., Any]
    instead: str = ""
    """Arguments other than ``USUAL``: ``points=samples``, or ``delta=delta`` (it has a default)."""

    @property
    def name(self) -> str:
        """The module and the function name without its side, which is a separate column."""
        module = self.function.__module__.rpartition(".")[2].removesuffix("_bounds")
        name = self.function.__name__.removesuffix(self._suffix)
        return f"{module}: {name}".replace("_", " ")

    @property
    def side(self) -> str:
        """Which side the bound is on."""
        return SIDES[self._suffix]

    @property
    def words(self) -> str:
        """The first paragraph of its docstring (formula and purpose) without citations."""
        first = _CITATION.sub("", str(self.function.__doc__).split("\n\n")[0]).replace("``", "")
        words = re.sub(r"\s+", " ", first).removeprefix("Return ")
        return words[:1].upper() + words[1:]

    @property
    def source(self) -> str:
        """The statement that its docstring cites, or "here"."""
        cited = _CITATION.search(str(self.function.__doc__))
        return re.sub(r"\s+", " ", cited[1]) if cited else "here"

    @property
    def _suffix(self) -> str:
        return next(end for end in SIDES if self.function.__name__.endswith(end))

    @property
    def needs(self) -> Mapping[str, str]:
        """The source of each argument: a number of the setting, or an expression."""
        usual = {name: USUAL.get(name, name) for name in _required(self.function)}
        return usual | _pairs(self.instead)

    def at(self, setting: Numbers) -> "BoundValue":
        """Return the row: the number, or why there is none."""
        try:
            given = {
                name: setting[source] if source.isidentifier() else json.loads(source)
                for name, source in self.needs.items()
            }
            found = self.function(**given)
        except ValueError as refusal:
            return BoundValue(self, None, str(refusal))
        except OverflowError:
            return BoundValue(self, None, "needs numbers that are too large for a float")
        # A plan is a set of parameters with the mistakes that they prove.
        return BoundValue(self, getattr(found, "mistakes", found), None)


def _required(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the arguments without a default, including those of a typed dictionary."""
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is argument.VAR_KEYWORD:
            yield from argument.annotation.__args__[0].__annotations__
        elif argument.default is argument.empty:
            yield argument.name


@dataclass(frozen=True, slots=True)
class BoundValue:
    """A bound at a setting: its value, or why it has none."""

    bound: Bound
    value: int | float | Fraction | None
    refusal: str | None

    @property
    def log2(self) -> float | None:
        """The binary logarithm, which fits a float if the number does not; None for 0 or less."""
        if self.value is None or self.value <= 0:
            return None
        if isinstance(self.value, Fraction):
            return math.log2(self.value.numerator) - math.log2(self.value.denominator)
        return math.log2(self.value)

    @property
    def text(self) -> str:
        """Format with four digits, or as 2^x if very large or small, rounded outwards."""
        if self.value is None:
            return "–"
        exponent = self.log2
        if exponent is not None and abs(exponent) >= 30:
            places = 1 if abs(exponent) < 1000 else 0
            return f"2^{self._outwards(exponent, places)}"
        number = float(self.value)
        if abs(number) >= 1000:
            return f"{self._outwards(number, 0):,}"
        digits = 3 - math.floor(math.log10(abs(number))) if number else 0
        return f"{float(self._outwards(number, digits)):.4g}"

    def _outwards(self, number: float, places: int) -> Decimal:
        """Round outwards, so that the text is a bound, too."""
        rounding = {"at least": ROUND_FLOOR, "at most": ROUND_CEILING}
        how = rounding.get(self.bound.side, ROUND_HALF_EVEN)
        return Decimal(number).quantize(Decimal(1).scaleb(-places), rounding=how)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
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
