"""Draw exact privacy curves beside the claimed ones: docs/images/privacy-curves.svg.

    python docs/tools/privacy_curves.py

Nothing is random: each curve is enumerated, on an instance so small that this takes seconds.
"""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.registry import AUDITS

PICTURE = Path(__file__).parents[1] / "images" / "privacy-curves.svg"
EPSILON, DELTA = 1.0, 1e-6
GRID = [step / 20 for step in range(25)]


class Panel(NamedTuple):
    """One game of the registry, and how it is called in the picture."""

    audit: str
    title: str


PANELS = (
    Panel("laplace-count", "LaplaceCount: a count moved by one"),
    Panel("above-threshold-queries", "AboveThreshold: forty noes, then a yes"),
    Panel("permute-and-flip-selection", "permute-and-flip: one example"),
    Panel("shrinking-dartboard", "ShrinkingDartboard: one batch"),
    Panel("fooling-sanitizer", "FoolingSanitizer: two guesses"),
    Panel("lazy-forest-last-layer", "LazyForest: the last layer"),
    Panel("private-majority", "PrivateMajority, fresh evidence"),
    Panel("private-majority-sampled", "PrivateMajority, sampled votes"),
)


def claimed_delta(epsilon: float, *, at: float, delta: float) -> float:
    """The largest δ(ε) that the claim allows: that of randomised response [KOV15]."""
    pure = max(0.0, (math.exp(at) - math.exp(epsilon)) / (1 + math.exp(at)))
    return delta + (1 - delta) * pure


def draw() -> None:
    """All panels in one picture."""
    matplotlib.rcParams["svg.hashsalt"] = "littlestone"
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    grid: Any = figure.subplots(2, 4, sharex=True, sharey=True)
    for panel, axes in zip(PANELS, grid.flat, strict=True):
        entry = AUDITS[panel.audit]
        subject = entry.subject(EPSILON, DELTA)
        curve = privacy_curve(
            subject,
            entry.adversary,
            rounds=entry.exact_rounds or 1,
            negligible=Fraction(1, 1 << entry.negligible_bits),
        )
        claimed = subject.claimed
        exact = [float(curve.delta_bounds(epsilon)[1]) for epsilon in GRID]
        promise = [
            claimed_delta(epsilon, at=claimed.epsilon, delta=claimed.delta) for epsilon in GRID
        ]
        axes.plot(GRID, promise, "--", color="C1", label="claimed")
        axes.plot(GRID, exact, color="C0", label="exact")
        axes.fill_between(GRID, exact, promise, color="C1", alpha=0.1)
        axes.set_title(panel.title, fontsize="small")
        axes.grid(alpha=0.3)
    grid[0][0].legend(fontsize="small")
    figure.supxlabel("ε")
    figure.supylabel("δ(ε)")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
