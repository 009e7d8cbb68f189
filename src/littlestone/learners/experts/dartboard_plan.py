"""The public numbers of a shrinking dartboard: their exact cost, and the best choice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.exact import WORD_BITS, Bounds, Uniform, exp_bounds
from littlestone.privacy.rounding import exp_lower_bound, ln_upper_bound
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import dartboard_switches_upper_bound


class KeepCoin:
    """Decide with probability exactly (1 - fake) * exp(-rate * loss) to keep an expert.

    A uniform number is compared with the probability bit by bit, as in ``BernoulliExp``: its first
    64 bits settle all but one case in 2**63.

    >>> from littlestone.randomness import seeded
    >>> KeepCoin(fake=Fraction(1), rate=Fraction(1)).draw(0, seeded(1))
    False
    """

    def __init__(self, *, fake: Fraction, rate: Fraction) -> None:
        self._true, self._rate = 1 - fake, rate
        self._leading: dict[int, Bounds] = {}

    def draw(self, loss: int, rng: Randomness) -> bool:
        """Toss the coin for a loss of at least 0."""
        bounds = self._leading.get(loss)
        if bounds is None:
            bounds = self._leading[loss] = self._bounds(loss, WORD_BITS)
        word = rng.word()
        if word + 1 <= bounds[0]:
            return True
        if word >= bounds[1]:
            return False
        return Uniform(rng, word).below(partial(self._bounds, loss))

    def _bounds(self, loss: int, bits: int) -> Bounds:
        """Return whole numbers around 2**bits times the probability, at most two apart."""
        low, high = exp_bounds(self._rate * loss, bits)
        true = self._true
        return (
            low * true.numerator // true.denominator,
            -(-high * true.numerator // true.denominator),
        )


Floats = NDArray[np.float64]
_LARGEST_EXPONENT: Final = 300.0
_ORDERS: Final = 1 + np.exp(np.linspace(-6, 14, 500))


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DartboardPlan:
    """Public parameters; any values are private at the cost that ``guarantee`` computes."""

    rate: float
    """The coefficient in the exponent, for losses between 0 and 1."""
    fake: float
    """The probability of a draw after a batch without loss; 1 draws after every batch."""
    batch: int
    cap: int
    """The most draws after the first."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(rate=self.rate, fake=self.fake)
        require.integer(batch=self.batch, at_least=1)
        require.integer(cap=self.cap, at_least=0)
        if self.fake > 1:
            raise ValueError(f"fake must lie in (0, 1], got fake={self.fake!r}")

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return the smallest of three accounts (shrinking_dartboard.md), rounded up.

        One example changes the bit "drawn again" of its own batch, and then up to ``cap`` draws.
        """
        eta, bit = Fraction(self.rate), self._bit_cost()
        draws = self.cap * eta**2 / 2
        # A bit that is constant costs nothing, not even the rate.
        keep = eta if self.fake < 1 else Fraction(0)
        together = ZeroConcentrated.rounded_up(rho=(keep + bit) ** 2 / 8 + draws)
        plain = max(keep, bit) + 2 * eta * self.cap
        if delta == 0:
            return PrivacyGuarantee.rounded_up(epsilon=plain)
        apart = Fraction(ZeroConcentrated.rounded_up(rho=draws).epsilon_upper_bound(delta))
        approximate = min(Fraction(together.epsilon_upper_bound(delta)), max(keep, bit) + apart)
        if plain <= approximate:
            return PrivacyGuarantee.rounded_up(epsilon=plain)
        return PrivacyGuarantee.rounded_up(epsilon=approximate, delta=delta)

    def _bit_cost(self) -> Fraction:
        """Bound the cost of the bit: ln(1 + (1 - p)(1 - e^-rate)/p), for one more loss."""
        fake = Fraction(self.fake)
        lost = 1 - exp_lower_bound(-Fraction(self.rate))
        return ln_upper_bound(1 + (1 - fake) * lost / fake) if fake < 1 else Fraction(0)


@lru_cache(maxsize=256)
def best_plan(
    *, experts: int, rounds: int, epsilon: float, delta: float, batch: int | None = None
) -> DartboardPlan:
    """Search a grid for the plan with the smallest regret bound within the budget.

    For each batch length (unless one is given) and each cost of the bit, the largest rate is found
    by bisection with approximate tails; the winner's rate is then lowered until its exact cost
    fits.
    """
    search = _Search(experts, rounds, epsilon, delta)
    if batch is None:
        batch = _best_batch(search, rounds)
    [(rate, fake)] = search.best([batch])
    draft = DartboardPlan(rate=min(1.01 * rate, search.clamp(batch)), fake=fake, batch=batch, cap=0)
    return _slowed_down(draft, rounds, PrivacyGuarantee(epsilon=epsilon, delta=delta))


def _slowed_down(draft: DartboardPlan, rounds: int, budget: PrivacyGuarantee) -> DartboardPlan:
    """Return the draft with the largest rate, up to its own, whose exact cost fits."""

    def at(share: float) -> DartboardPlan:
        slower = replace(draft, rate=share * draft.rate)
        return replace(slower, cap=_cap(slower, rounds))

    def fits(plan: DartboardPlan) -> bool:
        return plan.guarantee(delta=budget.delta).within(budget)

    low, high = 1.0, 1.0
    while not fits(at(low)):
        low, high = low / 2, low
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(at(middle)) else (low, middle)
    return at(low)


def _best_batch(search: "_Search", rounds: int) -> int:
    coarse = sorted({round(1.19**step) for step in range(100) if 1.19**step <= rounds})
    first = search.best_batch(coarse)
    near = range(max(1, math.floor(first / 1.19)), min(rounds, math.ceil(first * 1.19)) + 1)
    return search.best_batch(near[:: max(1, len(near) // 16)])


def _cap(plan: DartboardPlan, rounds: int) -> int:
    """Return a number of draws exceeded with probability at most 1/T^2, or all."""
    after_first = -(-rounds // plan.batch) - 1
    if plan.fake == 1:
        return after_first
    likely = dartboard_switches_upper_bound(
        rounds=rounds, batch=plan.batch, rate=plan.rate, fake=plan.fake
    )
    return min(likely, after_first)


class _Search:
    """Approximate planning in floats; nothing here is a promise."""

    def __init__(self, experts: int, rounds: int, epsilon: float, delta: float) -> None:
        self.weight = math.log(max(experts, 2))
        self.rounds, self.epsilon, self.delta = rounds, epsilon, delta
        self.tail = -NormalDist().inv_cdf(min(max(1 / rounds**2, 1e-300), 0.5))
        # How the budget is divided between the bit and the draws.
        self.bits: Floats = epsilon * np.exp(np.linspace(math.log(1e-3), math.log(0.98), 80))
        self._rhos: Floats = np.exp(
            np.linspace(math.log(1e-12), math.log(100 * (1 + epsilon)), 900)
        )
        self._epsilons = self._epsilon_of(self._rhos)
        self.total = float(self._rho_of(np.array([epsilon]))[0])
        self.left = self._rho_of(epsilon - self.bits)

    def best_batch(self, lengths: Sequence[int]) -> int:
        """Return the batch length with the smallest regret."""
        regrets = {
            batch: self.weight / rate + rate * (-(-self.rounds // batch) * batch) * batch / 8
            for batch, (rate, _) in zip(lengths, self.best(lengths), strict=True)
        }
        return min(regrets, key=regrets.__getitem__)

    def clamp(self, batch: int) -> float:
        """Return the best rate without privacy; a larger one is of no use."""
        return math.sqrt(8 * self.weight / (-(-self.rounds // batch) * batch**2))

    def best(self, lengths: Sequence[int]) -> list[tuple[float, float]]:
        """Return the best rate and fake-switch probability for each batch length."""
        affordable = self._largest_rates(lengths)
        return [self._best(*pair) for pair in zip(lengths, affordable, strict=True)]

    def _best(self, batch: int, affordable: Floats) -> tuple[float, float]:
        draws, clamp = max(1, -(-self.rounds // batch) - 1), self.clamp(batch)
        always = max(math.sqrt(2 * self.total / draws), self.epsilon / (2 * draws))
        rates = np.minimum(affordable, clamp)
        if rates.max() <= min(always, clamp):
            return min(always, clamp), 1.0
        best = int(rates.argmax())
        return float(rates[best]), float(self._fake(rates[best : best + 1], best)[0])

    def _largest_rates(self, lengths: Sequence[int]) -> Floats:
        """Return the largest affordable rate for each length and cost of the bit.

        All lengths at once, as numpy calls on one length would cost more than the work.
        """
        batch = np.array([lengths], dtype=np.float64).T
        batches = np.array([[-(-self.rounds // length) for length in lengths]], dtype=np.float64).T
        low = np.full((len(lengths), len(self.bits)), 1e-12)
        high = np.full_like(low, 4.0)
        for _ in range(60):
            middle = np.sqrt(low * high)
            fits = self._fits(middle, batches, batch)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return low

    def _fits(self, rates: Floats, batches: Floats, batch: Floats) -> NDArray[np.bool_]:
        fake = self._fake(rates)
        chance = 1 - (1 - fake) * np.exp(-rates * batch)
        mean, deviation = batches * chance, np.sqrt(batches * chance * (1 - chance))
        cap = mean + self.tail * deviation + (self.tail**2 - 1) * (1 - 2 * chance) / 6
        cap = np.minimum(np.ceil(cap) + 1, batches - 1)
        draws = cap * rates**2 / 2
        together = (rates + self.bits) ** 2 / 8 + draws <= self.total
        apart = (draws <= self.left) | (self.bits + 2 * cap * rates <= self.epsilon)
        fitting: NDArray[np.bool_] = together | (apart & (rates <= self.bits))
        return fitting

    def _fake(self, rates: Floats, index: int | None = None) -> Floats:
        """Return the probability at which the bit costs exactly its share."""
        bits = self.bits if index is None else self.bits[index : index + 1]
        # Larger exponentials overflow; a cheaper bit is private, too.
        bits = np.minimum(bits, _LARGEST_EXPONENT)
        fake: Floats = 1 / (1 + np.expm1(bits) / -np.expm1(-rates))
        return fake

    def _epsilon_of(self, rhos: Floats) -> Floats:
        """Convert from zCDP on a grid of orders, slightly above the exact value."""
        orders = _ORDERS
        constant = -(math.log(self.delta) + np.log(orders)) / (orders - 1) + np.log1p(-1 / orders)
        return np.array([(rho * orders + constant).min() for rho in rhos])

    def _rho_of(self, epsilons: Floats) -> Floats:
        logs: Floats = np.interp(np.maximum(epsilons, 0), self._epsilons, np.log(self._rhos))
        return np.exp(logs)
