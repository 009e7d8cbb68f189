"""An expert is drawn by exponential weights of the total losses, with a known small error."""

from fractions import Fraction
from functools import lru_cache

from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.incremental_selection import IncrementalSelection
from littlestone.privacy.rounding import float_at_least, float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated

_MOST_FLOOR_BITS = 64


@lru_cache(maxsize=256)
def zcdp_budget(epsilon: float, delta: float) -> float:
    """The largest rho within (epsilon, delta)."""
    return ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho


def selection(*, rate: float, experts: int, rounds: int, loss_scale: int) -> IncrementalSelection:
    """Draws with probability proportional to exp(-rate * total / loss_scale).

    Replacing one example moves each total by at most ``loss_scale`` up or down, so that the
    log-likelihood ratio of a draw spans at most 2 * rate.
    """
    # Low enough for the floor to cost less than a thousandth of one round's loss.
    floor_bits = min(experts.bit_length() + rounds.bit_length() + 12, _MOST_FLOOR_BITS)
    epsilon = float_at_most(2 * Fraction(rate))
    try:
        mechanism = ExponentialMechanism(
            epsilon=epsilon, range_width=2 * loss_scale, floor_bits=floor_bits
        )
    except ValueError as refusal:
        raise ValueError(
            f"rounds={rounds!r} and this budget need the rate {rate:.2g}, too small for exact "
            f"weights; allow a larger epsilon, fewer rounds or longer batches"
        ) from refusal
    # In so many rounds no weight falls by more than a factor of e.
    return IncrementalSelection(mechanism=mechanism, refresh=max(1, int(1 / rate)))


def table_error(chosen: IncrementalSelection, *, experts: int) -> float:
    """Total variation between the sampled law and exact exponential weights, from above.

    Rounding of the table and its floor (mechanisms/incremental_selection.md).
    """
    table = chosen.mechanism._table
    floor = Fraction(4 * experts, 1 << chosen.mechanism.floor_bits)
    return float_at_least(floor + Fraction(table.length_upper_bound, 1 << 53))
