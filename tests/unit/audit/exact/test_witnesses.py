"""Every enumerated subject keeps its claim exactly, and its adversary shows what it should."""

import math
from fractions import Fraction

import pytest

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.registry import AUDITS

ENUMERATED = [audit.name for audit in AUDITS.values() if audit.exact_rounds]
LONG = {"unknown-horizon", "histogram-sanitizer"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in ENUMERATED],
)
def test_the_exact_curve_stays_below_the_claim_and_comes_near_it(name: str) -> None:
    entry = AUDITS[name]
    subject = entry.subject(1.0, 1e-6)
    curve = privacy_curve(
        subject,
        entry.adversary,
        rounds=entry.exact_rounds or 1,
        negligible=Fraction(1, 1 << entry.negligible_bits),
    )
    low, high = curve.delta_bounds(subject.claimed.epsilon)
    assert low <= subject.claimed.delta
    # Only what is left out of the enumeration could exceed it, in one world or in the other.
    assert high <= subject.claimed.delta + (1 + math.exp(1)) * curve.missing + 1e-30
    share = curve.epsilon_lower_bound(subject.claimed.delta) / subject.claimed.epsilon
    assert share <= 1
    # A subject below its goal says why: then the claim is loose, not the adversary weak.
    assert bool(entry.remark) == (share < entry.goal)
