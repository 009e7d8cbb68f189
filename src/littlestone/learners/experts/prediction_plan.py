"""The public numbers of private prediction: copies, noise and cap, their cost and their choice."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.noise.exact import noise_rate
from littlestone.privacy.rounding import exp_lower_bound, exp_upper_bound, ln_upper_bound
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.outwards import upwards

_COPY_SHARES: Final = tuple(i / 50 for i in range(5, 50))


def updates_upper_bound(
    *, copies: int, rate: float, rounds: int, base_mistakes: int, failure_probability: float
) -> float:
    """Bound the rounds in which one of ``PrivatePrediction``'s two answers is wrong [KMMNS23].

    A round is *stray* if fewer than x·k/2 of the k copies give one of the answers. That has
    probability at most 2·e**(-rate·(1 - x)·k/2), and at most a of T rounds are stray by Chernoff's
    bound. In every other update at least x·k/2 copies err, so the drawn copy errs with
    probability x/2. All copies together err at most k·d times. So there are at most
    (N + L + √(2NL + L²))·2/x such updates, N = k·d + 1 and L = ln(2/β). The best x is used.

    >>> bound = updates_upper_bound(
    ...     copies=1000, rate=0.05, rounds=10**6, base_mistakes=1, failure_probability=0.05)
    >>> 2000 < bound < 4000
    True
    """
    require.integer(copies=copies, rounds=rounds, at_least=1)
    require.integer(base_mistakes=base_mistakes, at_least=0)
    require.positive(rate=rate)
    require.open_probability(failure_probability=failure_probability)
    level = math.log(2 / failure_probability)
    errors = copies * base_mistakes + 1
    needed = errors + level + math.sqrt(2 * errors * level + level**2)

    def taught_and_strays(share: float) -> tuple[float, int, float]:
        taught = math.ceil(upwards(needed * 2 / share))
        strays = upwards(rounds * min(1.0, 2 * math.exp(-rate * (1 - share) * copies / 2)))
        return taught + strays, taught, strays

    best = math.inf
    for least, taught, strays in sorted(map(taught_and_strays, _COPY_SHARES)):
        if least >= best:  # the number of strays used below is at least its mean
            break
        best = min(best, taught + _poisson_like(strays, level))
    return float(best)


def _poisson_like(mean: float, level: float) -> int:
    """Return nearly the smallest a > mean with e**-mean·(e·mean/a)**a at most e**-level."""

    def unlikely(a: float) -> bool:
        return a * math.log(a / mean) - a + mean >= level

    low, high = mean, mean + level + math.sqrt(2 * mean * level) + 1
    while not unlikely(high):
        high = 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if unlikely(middle) else (middle, high)
    return math.ceil(upwards(high))


_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPlan:
    """The public numbers of ``PrivatePrediction``.

    >>> plan = PredictionPlan(copies=1000, rate=0.01, cap=100, cap_epsilon=0.1)
    >>> round(plan.guarantee(delta=1e-6).epsilon, 3)
    0.674
    """

    copies: int
    rate: float
    """How much a single copy moves the log-odds of an answer."""
    cap: int
    """The number of disagreements after which, up to noise, the run ends."""
    cap_epsilon: float
    """The budget for counting disagreements."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(copies=self.copies, cap=self.cap, at_least=1)
        noise_rate(rate=self.rate)
        noise_rate(cap_epsilon=self.cap_epsilon)

    @property
    def watch(self) -> CountAboveThreshold:
        """The mechanism that counts the disagreements."""
        return CountAboveThreshold(epsilon=self.cap_epsilon, threshold=self.cap)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return what the view of all others promises to the asker of a round.

        Proof: private_prediction.md.
        """
        require.open_probability(delta=delta)
        order = self._best_order(delta)
        epsilon = math.inf if order is None else self._epsilon_at_order(delta, Fraction(order))
        return PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)

    def within(self, *, epsilon: float, delta: float) -> "PredictionPlan":
        """Return the plan with about the largest rate that keeps this promise."""
        low, high = self.rate / 64, self.rate * 2
        for _ in range(20):
            middle = math.sqrt(low * high)
            fits = replace(self, rate=middle).guarantee(delta=delta).epsilon <= epsilon
            low, high = (middle, high) if fits else (low, middle)
        return replace(self, rate=low)

    def mistake_bound(
        self, *, rounds: int, base_mistakes: int, failure_probability: float
    ) -> float:
        """Bound the mistakes on realizable streams, except with ``failure_probability``."""
        half = failure_probability / 2
        updates = updates_upper_bound(
            copies=self.copies,
            rate=self.rate,
            rounds=rounds,
            base_mistakes=base_mistakes,
            failure_probability=half,
        )
        early = self.watch.early_error_bound(rounds=rounds, failure_probability=half)
        return min(float(rounds), updates) if updates + early <= self.cap else float(rounds)

    def _epsilon_at_order(self, delta: float, a: Fraction) -> Fraction | float:
        """Bound epsilon at one order (private_prediction.md); infinite if the theorem is void."""
        s, e_c = Fraction(self.rate), Fraction(self.cap_epsilon)
        y = a * (a - 1) / 2 * s**2 * exp_upper_bound(a * s)
        q_low, q_high = exp_lower_bound(-e_c), exp_upper_bound(-e_c)
        if y >= 1 or q_high >= 1 - y:
            return math.inf
        growth = self.cap * ln_upper_bound(1 / (1 - y))
        noise = ln_upper_bound((1 - q_low) / (1 - q_high / (1 - y)))
        for_delta = ln_upper_bound(1 / (a * Fraction(delta))) + e_c
        concentrated = (growth + noise + for_delta) / (a - 1) + ln_upper_bound(1 - 1 / a)
        return e_c + max(Fraction(0), concentrated)

    def _best_order(self, delta: float) -> float | None:
        """Search an order near the minimum; every order is valid, so the search may be inexact."""

        def nearly(order: float) -> float:
            s, e_c = self.rate, self.cap_epsilon
            y = order * (order - 1) / 2 * s * s * math.exp(order * s)
            if y >= -math.expm1(-e_c) / 2:
                return math.inf
            growth = -self.cap * math.log1p(-y) - math.log1p(-y / -math.expm1(-e_c))
            spent = growth - math.log(order * delta) + e_c
            return spent / (order - 1) + math.log1p(-1 / order)

        left, right = -6.0, math.log(1 / self.rate) + 1  # beyond it y exceeds 1
        while right - left > 1e-3:
            reach = _GOLDEN * (right - left)
            first, second = 1 + math.exp(right - reach), 1 + math.exp(left + reach)
            # Both infinite: the orders are too large.
            if nearly(first) < nearly(second) or nearly(second) == math.inf:
                right = left + reach
            else:
                left = right - reach
        order = 1 + math.exp(left)
        return order if nearly(order) < math.inf else None


FAILURE_PROBABILITY: Final = 0.05
"""The probability with which the planned run may end too early or exceed its bound."""
_CAP_SHARES: Final = (0.02, 0.05)
_COPIES: Final = tuple(int(2 ** (i / 2)) for i in range(8, 80))
_LARGEST: Final = 2.0**50
_TRIES: Final = 20
_NEARLY: Final = 0.96
"""The share of the rate by ρ = cap · rate² / 2 that the exact cost leaves."""


@lru_cache(maxsize=64)
def planned(*, rounds: int, epsilon: float, delta: float, base_mistakes: int) -> PredictionPlan:
    """Return the plan with the smallest proved bound, whether that is below ``rounds`` or not.

    More copies are steadier but must be taught one by one. Then more disagreements must be allowed,
    which takes more noise, which takes more copies. For each number of copies the smallest cap that
    is not reached is found.
    """

    def first(share: float, copies: int) -> tuple[float, PredictionPlan]:
        cap_epsilon = share * epsilon
        rho = ZeroConcentrated.largest(
            epsilon=epsilon - cap_epsilon, delta=delta * math.exp(-cap_epsilon)
        ).rho
        early = CountAboveThreshold(epsilon=cap_epsilon, threshold=1).early_error_bound(
            rounds=rounds, failure_probability=FAILURE_PROBABILITY / 2
        )
        cap, needed = 0.0, 1 + early
        while cap < needed < _LARGEST:  # a larger cap needs a smaller rate
            cap = needed
            needed = early + updates_upper_bound(
                copies=copies,
                rate=_NEARLY * math.sqrt(2 * rho / cap),
                rounds=rounds,
                base_mistakes=base_mistakes,
                failure_probability=FAILURE_PROBABILITY / 2,
            )
        rate = math.sqrt(2 * rho / cap)
        plan = PredictionPlan(copies=copies, rate=rate, cap=math.ceil(cap), cap_epsilon=cap_epsilon)
        return cap, plan

    candidates = [first(share, copies) for share in _CAP_SHARES for copies in _COPIES]
    plan = min(candidates, key=lambda pair: pair[0])[1]
    fitting = plan.within(epsilon=epsilon, delta=delta)
    for _ in range(_TRIES):  # for large epsilons the fitting rate is smaller than estimated
        bound = fitting.mistake_bound(
            rounds=rounds, base_mistakes=base_mistakes, failure_probability=FAILURE_PROBABILITY
        )
        if bound < rounds or plan.cap >= rounds:
            break
        plan = replace(plan, cap=plan.cap * 11 // 10)
        fitting = plan.within(epsilon=epsilon, delta=delta)
    return fitting


def predicted_mistakes_upper_bound(
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    littlestone_dimension: int,
    failure_probability: float,
) -> float:
    """Return the bound proved for ``PrivatePrediction`` as it is planned, at most T [KMMNS23].

    Of order d²·ln²T/ε², where each answer goes to its asker alone.

    >>> predicted_mistakes_upper_bound(rounds=10**9, epsilon=1.0, delta=1e-6,
    ...     littlestone_dimension=1, failure_probability=0.05)
    749853.0
    """
    plan = planned(rounds=rounds, epsilon=epsilon, delta=delta, base_mistakes=littlestone_dimension)
    return plan.mistake_bound(
        rounds=rounds,
        base_mistakes=littlestone_dimension,
        failure_probability=failure_probability,
    )
