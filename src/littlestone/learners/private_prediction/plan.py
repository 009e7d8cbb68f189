"""How many copies, how noisy their majority, and after how many disagreements it is over."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from littlestone import require
from littlestone.learners.private_prediction.bound import updates_upper_bound
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.noise.exact import noise_rate
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.transcendental import exp_lower_bound, exp_upper_bound, ln_upper_bound

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
    """By so much a single copy moves the log-odds of an answer."""
    cap: int
    """After about so many disagreements the run is over."""
    cap_epsilon: float
    """What is spent on counting them."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(copies=self.copies, cap=self.cap, at_least=1)
        noise_rate(rate=self.rate)
        noise_rate(cap_epsilon=self.cap_epsilon)

    @property
    def watch(self) -> CountAboveThreshold:
        """What counts the disagreements."""
        return CountAboveThreshold(epsilon=self.cap_epsilon, threshold=self.cap)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """What everybody but the asker of a round sees promises to that asker (algorithm.md)."""
        require.open_probability(delta=delta)
        order = self._best_order(delta)
        epsilon = math.inf if order is None else self._epsilon_at_order(delta, Fraction(order))
        return PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)

    def within(self, *, epsilon: float, delta: float) -> "PredictionPlan":
        """The same with about the largest rate that keeps this promise."""
        low, high = self.rate / 64, self.rate * 2
        for _ in range(20):
            middle = math.sqrt(low * high)
            fits = replace(self, rate=middle).guarantee(delta=delta).epsilon <= epsilon
            low, high = (middle, high) if fits else (low, middle)
        return replace(self, rate=low)

    def mistake_bound(
        self, *, rounds: int, base_mistakes: int, failure_probability: float
    ) -> float:
        """On realizable streams, exceeded with ``failure_probability`` at most."""
        require.open_probability(failure_probability=failure_probability)
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
        """The theorem of algorithm.md at one order, from above; infinite where it says nothing."""
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
        """An order near the minimum; every order is valid, so the search may be inexact."""

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
