"""Whether a forest's numbers fit together, and its budgets into the promise."""

from fractions import Fraction
from typing import Any, Protocol

from littlestone import require
from littlestone.learners.lazy_forest.plan import ForestBudgets


class ForestNumbers(Protocol):
    """The numbers of a forest, all of them public."""

    @property
    def depth(self) -> int: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def slots(self) -> int: ...
    @property
    def packed(self) -> bool: ...
    @property
    def mistakes_per_layer(self) -> tuple[int, ...]: ...
    @property
    def mistakes_per_slot(self) -> tuple[float, ...]: ...
    @property
    def margins(self) -> tuple[int, ...]: ...
    @property
    def list_thresholds(self) -> tuple[int, ...]: ...
    @property
    def budgets(self) -> ForestBudgets: ...
    @property
    def early_release(self) -> bool: ...


def check_numbers(forest: ForestNumbers) -> None:
    """Refuse numbers that describe no forest."""
    depth = forest.depth
    _check_each("mistakes_per_layer", forest.mistakes_per_layer, depth + 1)
    _check_each("margins", forest.margins, depth + 1)
    _check_each("list_thresholds", forest.list_thresholds, depth)
    _check_length("mistakes_per_slot", forest.mistakes_per_slot, depth)
    require.positive(**_named("mistakes_per_slot", forest.mistakes_per_slot))
    require.integer(slots=forest.slots, at_least=2)
    multiple = 2 if forest.packed else 2 ** (depth + 1)
    if forest.slots % multiple:
        raise ValueError(f"slots must be a multiple of {multiple}, got slots={forest.slots!r}")
    if forest.early_release and depth != 1:
        raise ValueError(
            f"early_release needs a base learner that errs at most once, got one that errs at "
            f"most {depth} times"
        )


def check_budgets(forest: ForestNumbers) -> None:
    """Refuse budgets under which some example would pay more than was promised."""
    switching, listing = forest.budgets.switching, forest.budgets.listing
    _check_length("switching", switching, forest.depth + 1)
    _check_length("listing", listing, forest.depth)
    for layer, share in enumerate(switching):
        if forest.early_release and layer == 0:
            if share:
                raise ValueError(
                    f"switching[0] must be 0 with early_release, got switching[0]={share!r}"
                )
        else:
            require.positive(**{f"switching[{layer}]": share})
        later = sum((Fraction(cost.epsilon) for cost in listing[layer:]), Fraction(share))
        if later > Fraction(forest.epsilon):
            raise ValueError(
                f"budgets must stay within epsilon={forest.epsilon!r} for the examples of every "
                f"layer; those of layer {layer} would pay {float(later)!r}"
            )
    deltas = sum(Fraction(cost.delta) for cost in listing)
    if deltas > Fraction(forest.delta):
        raise ValueError(
            f"budgets must stay within delta={forest.delta!r}, got {float(deltas)!r} in all"
        )


def _check_each(name: str, numbers: tuple[int, ...], length: int) -> None:
    _check_length(name, numbers, length)
    require.integer(at_least=1, **_named(name, numbers))


def _check_length(name: str, numbers: tuple[Any, ...], length: int) -> None:
    if len(numbers) != length:
        raise ValueError(f"{name} must have {length} entries, got {name}={numbers!r}")


def _named(name: str, numbers: tuple[Any, ...]) -> dict[str, Any]:
    return {f"{name}[{layer}]": number for layer, number in enumerate(numbers)}
