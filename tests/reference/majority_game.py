"""The game behind the bound of a private majority, number by number, as its proof writes it down.

Every count and every noise by itself, no blocks, no tables, no relative values: what
``learners/private_majority/fresh.md`` says before it begins to save time.
"""

import math

import numpy as np

from littlestone.concepts.capabilities import Witnesses
from littlestone.learners.private_majority.plan import FreshPlan, false_answer_upper_bound

_NOISE = 8.0
_EPOCHS = 200


def game_value(
    plan: FreshPlan, witnesses: Witnesses, levels: int, *, moment: float, price: float
) -> float:
    """From below: an adversary that may start ``_EPOCHS`` epochs and meets no rarer noise."""
    value = 1.0
    for _ in range(_EPOCHS):
        before, value = value, _one_epoch(plan, witnesses, levels, moment, price, value)
        if value > 1e12 or value <= before * (1 + 1e-12):
            break
    return value


def _one_epoch(
    plan: FreshPlan,
    witnesses: Witnesses,
    levels: int,
    moment: float,
    price: float,
    again: float,
) -> float:
    lost = [again]
    for _ in range(levels):
        same = [lost[-1]] * _counts(plan)
        lost.append(max(lost[-1], _phase(plan, moment, price, same)))
    value = _phase(plan, moment, price, [again], may_err=False)
    for answered in range(levels - 1, -1, -1):
        fired = []
        for count in range(_counts(plan)):
            confusion = witnesses.confusion(answered)
            evidence = np.array(plan.selection_rate * count)
            false = float(false_answer_upper_bound(confusion, evidence))
            worse = max(lost[levels - answered], value)
            fired.append((1 - false) * value + false * worse)
        value = max(value, _phase(plan, moment, price, fired))
    return value


def _counts(plan: FreshPlan) -> int:
    """At so many mistakes AboveThreshold has fired, whatever its noise."""
    return plan.threshold + math.ceil(_NOISE / plan.threshold_epsilon) + 2


def _phase(
    plan: FreshPlan, moment: float, price: float, fired: list[float], *, may_err: bool = True
) -> float:
    rate, value = plan.threshold_epsilon, 0.0
    for noise in range(math.ceil(_NOISE / rate) + 1):
        likely = -math.expm1(-rate) * math.exp(-rate * noise)
        level = plan.threshold + noise
        value += likely * _known(plan, moment, price, fired, level, may_err=may_err)
    return value + math.exp(-rate * (math.ceil(_NOISE / rate) + 1))  # rarer noise: stops at once


def _known(
    plan: FreshPlan,
    moment: float,
    price: float,
    fired: list[float],
    level: int,
    *,
    may_err: bool,
) -> float:
    """The value if the noisy threshold is known to be ``level``."""

    def fires(count: int) -> float:
        return math.exp(-plan.threshold_epsilon * max(level - count, 0))

    round_price = math.exp(-moment * price)
    value = fired[-1]
    for count in range(level if may_err else 0, -1, -1):
        waits = fires(count) * round_price / (1 - (1 - fires(count)) * round_price)
        options = [1.0, waits * fired[count]]
        if may_err and count < level:
            after = fires(count + 1) * fired[count + 1] + (1 - fires(count + 1)) * value
            options.append(math.exp(moment * (1 - price)) * after)
        value = max(options)
    return value
