"""How large a forest must be: the theorem's constants, and far smaller calibrated ones.

Neither affects privacy, which holds for any numbers that ``LazyForest`` accepts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.histogram import smallest_noise_bound
from littlestone.privacy.rounding import float_at_most
from littlestone.theory.histogram_bounds import truncation_upper_bound
from littlestone.theory.realizable_bounds import frequent_pairs_lower_bound, slots_upper_bound

Rule = Literal["paper", "calibrated", "proved"]
"""The rules that make plans."""

MANY_SLOTS: Final = 1 << 60
"""Enough for no two mistakes of layer 0 to meet in one slot; slots cost nothing."""

_DEEPEST: Final = 8  # beyond it the needed mistakes exceed every float
_BEYOND: Final = 1 << 1000
_SMALLEST_SHARE: Final = 1e-3
_COVERED: Final = 0.3
# From dimension 3 on this share of the first mistakes planned by mean values is enough.
_NEEDED: Final = 0.75
_NEVER: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestBudgets:
    """How epsilon and delta are shared out.

    An example of layer s pays switching[s] and the listings of the layers above s, so switching may
    cost more in later layers.
    """

    switching: tuple[float, ...]
    """Epsilon of AboveThreshold in layers 0 .. d."""
    listing: tuple[PrivacyGuarantee, ...]
    """Cost of the list of frequent hypotheses of layers 1 .. d."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @classmethod
    @require.checked
    def from_listing(
        cls, listing: Sequence[PrivacyGuarantee], *, epsilon: float
    ) -> "ForestBudgets":
        """Return the largest switching budgets that ``listing`` leaves of ``epsilon``."""
        require.non_negative(epsilon=epsilon)
        listing = require.listed(PrivacyGuarantee, listing=listing)
        left = [
            Fraction(epsilon) - sum(Fraction(later.epsilon) for later in listing[layer:])
            for layer in range(len(listing) + 1)
        ]
        return cls(switching=tuple(map(float_at_most, left)), listing=tuple(listing))


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ForestPlan:
    """The public numbers of a forest whose base learner errs at most d times."""

    slots: int
    """N_0, the sequences of layer 0."""
    packed: bool
    """Match only living sequences, and keep slots for listed hypotheses only."""
    mistakes_per_layer: tuple[int, ...]
    """n_0 .. n_d: mistakes (or fewer, see below) before the next hypothesis is published."""
    mistakes_per_slot: tuple[float, ...]
    """For layers 0 .. d-1: this many mistakes per slot are enough, too."""
    margins: tuple[int, ...]
    """λ_0 .. λ_d, added to the mistakes because AboveThreshold may answer early."""
    list_thresholds: tuple[int, ...]
    """t_1 .. t_d: the noisy count that a hypothesis needs to be listed."""
    budgets: ForestBudgets
    early_release: bool = False
    """Release the only list as soon as a hypothesis is frequent (d = 1 only)."""
    made_by: Rule | None = field(default=None, init=False)
    """The rule that chose the numbers; None if chosen by hand, as after ``replace``."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    def signed(self, rule: Rule) -> "ForestPlan":
        """Return the same numbers, marked as chosen by ``rule``."""
        plan = replace(self)
        object.__setattr__(plan, "made_by", rule)
        return plan


def paper_plan(
    depth: int, *, rounds: int, epsilon: float, delta: float, failure_probability: float
) -> ForestPlan:
    """Return the numbers of [P, Theorem realizable2], with c = 8 for 6 (docs/ERRATA.md, R1).

    The last list counts single sequences instead of pairs, so its threshold is twice 3M_d/4.
    """
    slots = slots_upper_bound(
        dimension=depth, epsilon=epsilon, delta=delta, failure_probability=failure_probability
    )
    half = Fraction(epsilon) / 2
    share = float_at_most(half / max(depth, 1))
    listing = (
        PrivacyGuarantee(epsilon=share, delta=float_at_most(Fraction(delta) / max(depth, 1))),
    ) * depth
    margin = 8 * (math.log(rounds) + math.log(6 * rounds / failure_probability)) / float(half)
    frequent = [
        frequent_pairs_lower_bound(layer=layer, slots=slots) for layer in range(1, depth + 1)
    ]
    thresholds = [math.ceil(pairs * 3 / 4) for pairs in frequent[:-1]]
    return ForestPlan(
        slots=slots,
        packed=False,
        mistakes_per_layer=(*(slots >> layer for layer in range(depth)), 1),
        mistakes_per_slot=(2.0,) * depth,
        margins=(math.ceil(margin),) * (depth + 1),
        list_thresholds=(*thresholds, math.ceil(frequent[-1] * 3 / 2)) if depth else (),
        budgets=ForestBudgets(switching=(float_at_most(half),) * (depth + 1), listing=listing),
    ).signed("paper")


@lru_cache(maxsize=1024)
def calibrated_plan(
    depth: int, *, rounds: int, epsilon: float, delta: float, failure_probability: float
) -> ForestPlan:
    """Return the smallest forest that should succeed, by mean values (algorithm.md, §5)."""
    if depth <= 1:
        shallow = _shallow_plan(depth, rounds, epsilon, delta, failure_probability)
        return shallow.signed("calibrated")
    draft = _cheapest(_Problem(depth, rounds, epsilon, delta, failure_probability))
    listing = tuple(
        PrivacyGuarantee(epsilon=float_at_most(share), delta=float_at_most(Fraction(delta) / depth))
        for share in draft.listing
    )
    budgets = ForestBudgets.from_listing(listing, epsilon=epsilon)
    return ForestPlan(
        slots=MANY_SLOTS,
        packed=True,
        mistakes_per_layer=(draft.first_mistakes,) * depth + (1,),
        mistakes_per_slot=(2.0, *draft.mistakes_per_slot),
        margins=_margins(budgets.switching, rounds, failure_probability),
        list_thresholds=_smallest_thresholds(listing),
        budgets=budgets,
    ).signed("calibrated")


def as_measured(plan: ForestPlan) -> ForestPlan:
    """Return a calibrated plan with the first mistakes that copies needed in measurements (§5)."""
    depth = len(plan.list_thresholds)
    if depth < 3:
        return plan
    first = math.ceil(_NEEDED * plan.mistakes_per_layer[0])
    return replace(plan, mistakes_per_layer=(first,) * depth + (1,)).signed("calibrated")


def _shallow_plan(
    depth: int, rounds: int, epsilon: float, delta: float, failure_probability: float
) -> ForestPlan:
    """Plan for a base learner that errs at most once: release it as soon as it is frequent."""
    listing = (PrivacyGuarantee(epsilon=epsilon, delta=delta),) * depth
    switching = (0.0, epsilon) if depth else (epsilon,)
    # On realizable streams only the target is released, to which a wide margin costs nothing.
    margins = _margins((epsilon,), rounds, min(_NEVER, failure_probability))
    return ForestPlan(
        slots=MANY_SLOTS,
        packed=True,
        mistakes_per_layer=(1,) * (depth + 1),
        mistakes_per_slot=(2.0,) * depth,
        margins=margins * (depth + 1),
        list_thresholds=_smallest_thresholds(listing),
        budgets=ForestBudgets(switching=switching, listing=listing),
        early_release=depth == 1,
    )


@dataclass(frozen=True, slots=True)
class _Problem:
    depth: int
    rounds: int
    epsilon: float
    delta: float
    failure_probability: float


@dataclass(frozen=True, slots=True)
class _Draft:
    listing: tuple[float, ...]
    first_mistakes: int
    mistakes_per_slot: tuple[float, ...]
    cost: float


def _cheapest(problem: _Problem) -> _Draft:
    """Coordinate descent on the shares of epsilon: switching, then the lists of layers 1 .. d."""
    weights = [1.0] * problem.depth + [3.0]
    best = _draft(problem, weights)
    step = 2.0 if problem.depth <= _DEEPEST else 1.0
    while step > 1.02:
        better = False
        for position in range(len(weights)):
            for factor in (step, 1 / step):
                tried = [*weights]
                tried[position] *= factor
                draft = _draft(problem, tried)
                if draft.cost < best.cost:
                    best, weights, better = draft, tried, True
        if not better:
            step = math.sqrt(step)
    return best


def _draft(problem: _Problem, weights: Sequence[float]) -> _Draft:
    """Compute backwards, from the last list to the first, what each layer needs."""
    depth, odds = problem.depth, math.log(1 / problem.failure_probability)
    lowest = _SMALLEST_SHARE * math.fsum(weights)
    raised = [max(weight, lowest) for weight in weights]
    epsilons = [problem.epsilon * weight / math.fsum(raised) for weight in raised]
    switching = [math.fsum(epsilons[: layer + 1]) for layer in range(depth + 1)]
    listing = epsilons[1:]
    bounds = [
        truncation_upper_bound(epsilon=epsilon, delta=problem.delta / depth)
        for epsilon in listing[:-1]
    ]
    last = truncation_upper_bound(epsilon=listing[-1] / 2, delta=problem.delta / depth / 2)
    # The target's single sequences that the last list needs, with noise and guesses.
    wanted = _with_slack(last + 1 + 2 * odds / listing[-1], odds, 0.5)
    consistent, pairs = wanted, [0.0] * depth
    for layer in range(depth - 1, 0, -1):
        listed = bounds[layer - 1] + 1 + odds / listing[layer - 1]
        collisions = _with_slack(2 * consistent, odds, 0.5)  # half of the guesses are right
        root = (math.sqrt(listed) + math.sqrt(listed + 4 * collisions)) / 2
        pairs[layer] = root * root  # of these, √(pairs · listed) may agree without being listed
        if layer > 1:
            # A share 2^(1 − 2^(layer−1)) of the sequences is consistent with the target.
            exponent = min(2 ** (layer - 1), 900)
            consistent = _with_slack(pairs[layer] * 2.0**exponent, odds, 1.0)
    first = 2 * pairs[1]
    covered = [_COVERED] * (depth - 2) + [min(0.9, 1.25 * wanted / pairs[depth - 1])]
    per_slot = [-math.log1p(-share) for share in covered]
    margin = math.log(problem.rounds) + odds
    cost = first + margin * math.fsum(
        times / epsilon for times, epsilon in zip([1, *[2] * depth], switching, strict=True)
    )
    for layer in range(1, depth):
        cost += per_slot[layer - 1] * (first / 2**layer + 2 * bounds[layer - 1])
    return _Draft(
        listing=tuple(listing),
        first_mistakes=math.ceil(first) if first < 1e300 else _BEYOND,
        mistakes_per_slot=tuple(per_slot),
        cost=cost,
    )


def _with_slack(mean: float, odds: float, variance_share: float) -> float:
    """Return a mean large enough that ``mean`` itself is a likely outcome."""
    return mean + math.sqrt(2 * odds * variance_share * mean)


def _smallest_thresholds(listing: Sequence[PrivacyGuarantee]) -> tuple[int, ...]:
    """Return one above the noise bound, the least that the histogram allows."""
    cells = [1] * (len(listing) - 1) + [2]
    return tuple(
        smallest_noise_bound(Fraction(cost.epsilon) / parts, Fraction(cost.delta) / parts) + 1
        for cost, parts in zip(listing, cells, strict=False)
    )


def _margins(
    switching: Sequence[float], rounds: int, failure_probability: float
) -> tuple[int, ...]:
    """Return how far below its threshold AboveThreshold may fire within ``rounds``.

    In the last layer an early yes discards the right hypothesis, hence the smaller probability.
    """
    odds = math.log(rounds) - math.log(failure_probability)
    early = [math.ceil(odds / epsilon) for epsilon in switching[:-1]]
    return (*early, math.ceil((odds + math.log(10)) / switching[-1]))


def check_numbers(plan: ForestPlan, *, depth: int) -> None:
    """Raise for numbers that describe no forest."""
    _check_each("mistakes_per_layer", plan.mistakes_per_layer, depth + 1)
    _check_each("margins", plan.margins, depth + 1)
    _check_each("list_thresholds", plan.list_thresholds, depth)
    _check_length("mistakes_per_slot", plan.mistakes_per_slot, depth)
    require.positive(**_named("mistakes_per_slot", plan.mistakes_per_slot))
    require.integer(slots=plan.slots, at_least=2)
    multiple = 2 if plan.packed else 2 ** (depth + 1)
    if plan.slots % multiple:
        raise ValueError(f"slots must be a multiple of {multiple}, got slots={plan.slots!r}")
    if plan.early_release and depth != 1:
        raise ValueError(
            f"early_release needs a base learner that errs at most once, got one that errs at "
            f"most {depth} times"
        )


def check_budgets(plan: ForestPlan, *, depth: int, promised: PrivacyGuarantee) -> None:
    """Raise for budgets under which some example would pay more than the promise."""
    switching, listing = plan.budgets.switching, plan.budgets.listing
    _check_length("switching", switching, depth + 1)
    _check_length("listing", listing, depth)
    for layer, share in enumerate(switching):
        if plan.early_release and layer == 0:
            if share:
                raise ValueError(
                    f"switching[0] must be 0 with early_release, got switching[0]={share!r}"
                )
        else:
            require.positive(**{f"switching[{layer}]": share})
        later = sum((Fraction(cost.epsilon) for cost in listing[layer:]), Fraction(share))
        if later > Fraction(promised.epsilon):
            raise ValueError(
                f"budgets must stay within epsilon={promised.epsilon!r} for the examples of every "
                f"layer; those of layer {layer} would pay {float(later)!r}"
            )
    deltas = sum(Fraction(cost.delta) for cost in listing)
    if deltas > Fraction(promised.delta):
        raise ValueError(
            f"budgets must stay within delta={promised.delta!r}, got {float(deltas)!r} in all"
        )


def _check_each(name: str, numbers: tuple[int, ...], length: int) -> None:
    _check_length(name, numbers, length)
    require.integer(at_least=1, **_named(name, numbers))


def _check_length(name: str, numbers: tuple[Any, ...], length: int) -> None:
    if len(numbers) != length:
        raise ValueError(f"{name} must have {length} entries, got {name}={numbers!r}")


def _named(name: str, numbers: tuple[Any, ...]) -> dict[str, Any]:
    return {f"{name}[{layer}]": number for layer, number in enumerate(numbers)}
