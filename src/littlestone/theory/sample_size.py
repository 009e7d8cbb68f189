"""The smallest number of examples for which an error bound is small enough."""

from collections.abc import Callable

from littlestone import require

_LARGEST_SIZE = 1 << 62


def smallest_size(error_at: Callable[[int], float], error: float, *, start: int = 1) -> int:
    """The smallest number of examples, from ``start`` on, whose error bound is at most ``error``.

    ``error_at`` should fall from there on; where it jumps a little, some number that is large
    enough is found.

    >>> smallest_size(lambda size: 10 / size, 0.1)
    100
    """
    require.positive(error=error)
    low, high = start - 1, start
    while error_at(high) > error:
        low, high = high, 2 * high
        if high > _LARGEST_SIZE:
            raise ValueError(f"no number of examples reaches error={error!r}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle) <= error else (middle, high)
    return high
