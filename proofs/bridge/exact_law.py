"""The law of Python's code as fractions, with another base in place of 1/e and nothing left out.

Threshold noise has no largest value. From some value R on it is left open: it is R + r, every
probability is a polynomial in base**r, and the mean of base**(k * r) is a fraction. An open value
is written as a huge whole number, which the code adds to and compares like any other.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any, Final

from littlestone.audit.exact import laws, tape
from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.tape import Memoryless, Tape, Weighted, law_of
from littlestone.audit.substitution import replaced

_OPEN: Final = 1 << 60
_MOST_RUNS: Final = 500_000
Monomial = tuple[tuple[int, int], ...]
"""Numbers of open noises and their exponents."""


class Exact:
    """A probability: a polynomial in base**r for each open r, with the interface of ``Mass``."""

    __slots__ = ("terms",)

    low = high = 0  # so that no case is ever negligible

    def __init__(self, terms: dict[Monomial, Fraction]) -> None:
        self.terms = terms

    @classmethod
    def of(cls, value: Fraction | int) -> "Exact":
        return cls({(): Fraction(value)})

    @classmethod
    def from_ratio(cls, part: int, whole: int) -> "Exact":
        return cls.of(Fraction(part, whole))

    @property
    def value(self) -> Fraction:
        assert set(self.terms) <= {()}
        return self.terms.get((), Fraction(0))

    def times(self, other: "Exact") -> "Exact":
        terms: dict[Monomial, Fraction] = {}
        for left, p in self.terms.items():
            for right, q in other.terms.items():
                both = _product(left, right) if left and right else left or right
                terms[both] = terms.get(both, Fraction(0)) + p * q
        return Exact(terms)

    def over(self, other: "Exact") -> "Exact":
        return Exact({monomial: p / other.value for monomial, p in self.terms.items()})

    def plus(self, other: "Exact") -> "Exact":
        terms = dict(self.terms)
        for monomial, p in other.terms.items():
            terms[monomial] = terms.get(monomial, Fraction(0)) + p
        return Exact(terms)

    def often(self, count: int) -> "Exact":
        return Exact({monomial: count * p for monomial, p in self.terms.items()})

    def rest(self) -> "Exact":
        return Exact.of(1).plus(self.often(-1))

    def power(self, exponent: int) -> "Exact":
        result = Exact.of(1)
        for _ in range(exponent):
            result = result.times(self)
        return result

    def mean(self, noises: list[Fraction], base: Fraction) -> "Exact":
        """Over all open noises; noise i has P(r) = (1 - q) * q**r with q = noises[i]."""
        total = Fraction(0)
        for monomial, p in self.terms.items():
            for number, exponent in monomial:
                q = noises[number]
                p *= (1 - q) / (1 - q * base**exponent)
            total += p
        return Exact.of(total)


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for number, exponent in right:
        powers[number] = powers.get(number, 0) + exponent
    return tuple(sorted(powers.items()))


class Enumeration:
    """All runs of what draws noise, with ``base`` for 1/e; noise from ``reach`` on is open."""

    def __init__(self, base: Fraction, reach: int) -> None:
        self.base, self.reach = base, reach
        self._noises: list[Fraction] = []

    def exp_mass(self, exponent: Any) -> Exact:
        whole = int(exponent)
        assert whole == exponent >= 0
        number, offset = divmod(whole, _OPEN)
        if not number:
            return Exact.of(self.base**whole)
        variable = 0
        while number % 3 == 0:
            number, variable = number // 3, variable + 1
        assert number in (1, 2), "an open value stands alone, and rates are 1 or 2"
        return Exact({((variable, number),): self.base**offset})

    def settle(self, unknown: Memoryless) -> int:
        if unknown.high is None:
            q = self.base ** int(unknown.rate)
            cases = [Exact.of((1 - q) * q**k) for k in range(self.reach)]
            chosen = unknown.tape.choose([*cases, Exact.of(q**self.reach)])
            unknown.low += chosen
            if chosen == self.reach:
                unknown.low += 3 ** len(self._noises) * _OPEN
                self._noises.append(q)
            unknown.high = unknown.low + 1
        elif unknown.high != unknown.low + 1:
            unknown.low += unknown.tape.choose(unknown.cases())
            unknown.high = unknown.low + 1
        return unknown.low

    @contextmanager
    def _replaced(self) -> Iterator[None]:
        one, nothing = Exact.of(1), Exact.of(0)
        with ExitStack() as stack:
            for module in (laws, tape):
                names: dict[str, Any] = {"Mass": Exact, "exp_mass": self.exp_mass}
                names |= {"ONE": one, "NOTHING": nothing}
                stack.enter_context(replaced(module, **names))
            laws._laplace_sums.cache_clear()
            # Of the base class, for one subclass only.
            Memoryless.settle = lambda unknown: self.settle(unknown)  # type: ignore[method-assign]
            stack.callback(delattr, Memoryless, "settle")
            stack.enter_context(replaced(Weighted, _between=_between))
            stack.enter_context(enumerable())
            yield
            laws._laplace_sums.cache_clear()

    def law(
        self, play: Callable[[Tape], Hashable], rounds: int, *, whole: bool = True
    ) -> dict[Any, Fraction]:
        """The probability of each view; they add up to one, if this is the ``whole`` law."""

        def once(coins: Tape) -> Hashable:
            self._noises.clear()
            view = play(coins)
            coins.mass = coins.mass.mean(self._noises, self.base)  # type: ignore[attr-defined, assignment]
            return view

        with self._replaced():
            found = law_of(once, rounds=rounds, negligible=0, most=_MOST_RUNS)
        views = {view: mass.value for view, mass in found.views.items()}  # type: ignore[attr-defined]
        assert sum(views.values()) == 1 or not whole, "probabilities must add up to one"
        return {view: p for view, p in views.items() if p}


def _between(weights: Weighted, first: int, last: int) -> Any:
    before, until = weights._sums[first], weights._sums[last]
    return until.plus(before.often(-1))
