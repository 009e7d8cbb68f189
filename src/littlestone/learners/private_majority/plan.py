"""The public numbers of a private majority, and what they cost in privacy."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from littlestone import require
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FreshPlan:
    """Every phase learns from its own mistakes only: which witness they name.

    ``selection_rate`` is the rate of the exponential mechanism that draws the witness.
    """

    threshold_epsilon: float
    threshold: int
    selection_rate: float

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(
            threshold_epsilon=self.threshold_epsilon, selection_rate=self.selection_rate
        )
        require.integer(threshold=self.threshold, at_least=1)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """A mistake that becomes none moves the count and one witness; one that becomes another
        moves two witnesses, and the count not at all (recipe.md, step 2)."""
        del delta  # pure
        rate = Fraction(self.selection_rate)
        return PrivacyGuarantee.rounded_up(
            epsilon=max(Fraction(self.threshold_epsilon) + rate, 2 * rate)
        )

    def watch(self) -> CountAboveThreshold:
        return CountAboveThreshold(epsilon=self.threshold_epsilon, threshold=self.threshold)

    def selection(self) -> ExponentialMechanism:
        # Scores are counts; a replaced example moves two of them, in opposite directions.
        return ExponentialMechanism.from_eta(self.selection_rate, range_width=2)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class EpochPlan:
    """Phases that learn from all mistakes since the epoch began.

    A mistake in phase j adds ``weights[j]`` to the loss of every concept that errs with it; the
    concepts are drawn with rate ``rate`` for each unit of loss. Later mistakes meet fewer draws
    and may weigh more. Mistakes of the last phase meet none.
    """

    votes: int
    rate: float
    weights: tuple[int, ...]
    thresholds: tuple[int, ...]

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(votes=self.votes, at_least=1)
        require.positive(rate=self.rate)
        for weight in self.weights:
            require.integer(weights=weight, at_least=1)
        for threshold in self.thresholds:
            require.integer(thresholds=threshold, at_least=1)
        if self.votes % 2 == 0:
            raise ValueError(f"votes must be odd, got votes={self.votes!r}")
        if len(self.thresholds) != len(self.weights) + 1:
            raise ValueError(
                f"there must be one threshold more than weights, got {len(self.thresholds)} "
                f"thresholds and {len(self.weights)} weights"
            )

    @property
    def phases(self) -> int:
        return len(self.thresholds)

    def draw(self) -> ExponentialMechanism:
        """What draws the votes; its cost is ``concentrated``, whatever it says itself."""
        return ExponentialMechanism.from_eta(self.rate, range_width=2)

    def concentrated(self, *, mistakes_moved: int) -> ZeroConcentrated:
        """What all draws of an epoch cost the example that they cost most.

        One mistake moves losses by 0 or its weight: a range of weight. Two move them by as much in
        either direction: a range of twice the weight.
        """
        costs = (
            self.votes
            * (self.phases - phase)
            * (mistakes_moved * weight * Fraction(self.rate)) ** 2
            for phase, weight in enumerate(self.weights, start=1)
        )
        return ZeroConcentrated.rounded_up(rho=max(costs, default=Fraction(0)) / 8)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class SampledPlan:
    """The epochs, one after another; the last one is repeated for as long as it takes."""

    threshold_epsilon: float
    epochs: tuple[EpochPlan, ...]

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(threshold_epsilon=self.threshold_epsilon)
        if not self.epochs:
            raise ValueError("epochs must not be empty")

    def epoch(self, number: int) -> EpochPlan:
        """The plan of epoch ``number``, counted from 0."""
        require.integer(number=number, at_least=0)
        return self.epochs[min(number, len(self.epochs) - 1)]

    def watch(self, threshold: int) -> CountAboveThreshold:
        return CountAboveThreshold(epsilon=self.threshold_epsilon, threshold=threshold)

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """A mistake that becomes none moves the count and the losses one way; one that becomes
        another moves the losses both ways, and the count not at all (recipe.md)."""
        require.open_probability(delta=delta)
        one = max(epoch.concentrated(mistakes_moved=1).rho for epoch in self.epochs)
        two = max(epoch.concentrated(mistakes_moved=2).rho for epoch in self.epochs)
        if two == inf:
            return PrivacyGuarantee(epsilon=inf, delta=delta)
        alone = Fraction(ZeroConcentrated(rho=two).epsilon_upper_bound(delta))
        with_count = Fraction(ZeroConcentrated(rho=one).epsilon_upper_bound(delta))
        return PrivacyGuarantee.rounded_up(
            epsilon=max(alone, with_count + Fraction(self.threshold_epsilon)), delta=delta
        )


Plan = FreshPlan | SampledPlan
