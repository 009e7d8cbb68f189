"""Numbers and tables as the pages write them."""

import math
from collections.abc import Sequence

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def nearest(value: float) -> str:
    return f"{value:,.0f}"


def power(number: float) -> str:
    """A power of ten, as one."""
    return "10" + str(round(math.log10(number))).translate(_RAISED)


def up(bound: float, digits: int = 0) -> str:
    """A bound from above."""
    return f"{math.ceil(bound * 10**digits) / 10**digits:,.{digits}f}"


def down(floor: float, digits: int = 0) -> str:
    """A bound from below."""
    return f"{math.floor(floor * 10**digits) / 10**digits:,.{digits}f}"


def with_error(mean: Sequence[float]) -> str:
    """A mean and its standard error."""
    return f"{mean[0]:,.1f} ± {mean[1]:.1f}"
