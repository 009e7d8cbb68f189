"""Whether a forest's numbers fit together, and its budgets into the promise."""

from fractions import Fraction
from typing import Any

from littlestone import require
from littlestone.learners.lazy_forest.plan import ForestPlan
from littlestone.privacy.guarantee import PrivacyGuarantee


def check_numbers(plan: ForestPlan, *, depth: int) -> None:
    """Refuse numbers that describe no forest."""
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
    """Refuse budgets under which some example would pay more than was promised."""
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
