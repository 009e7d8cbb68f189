"""Draw exact privacy curves beside the claimed ones: docs/images/*-curve*.svg.

    python docs/tools/privacy_curves.py

Nothing is random: each curve is enumerated, on an instance so small that this takes seconds.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure

from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.learner_attacks import FirstMistake, OneMoreReport
from littlestone.audit.registry import AUDITS
from littlestone.audit.two_worlds import Subject, TwoWorldAdversary
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.privacy.guarantee import PrivacyGuarantee

IMAGES = Path(__file__).parents[1] / "images"
PICTURE = IMAGES / "privacy-curves.svg"
EPSILON, DELTA = 1.0, 1e-6
NEGLIGIBLE_BITS = 40
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


@dataclass(frozen=True)
class Alone:
    """A picture of its own, for the page of one learner."""

    picture: str
    title: str
    subject: Subject
    adversary: TwoWorldAdversary
    rounds: int


def alone() -> tuple[Alone, ...]:
    """Learners on instances whose coins can all be gone through."""
    keys = PrivateKeys(rounds=5, epsilon=4.0, delta=0.01)
    batches = DisjointBatches(concepts=Points(12), epsilon=1.0, first=1)
    return (
        Alone(
            "private-keys-curve.svg",
            "PrivateKeys: one report more or less, one short of the threshold",
            Subject.from_learner(keys),
            OneMoreReport(short=1),
            keys.reports,
        ),
        Alone(
            "disjoint-batches-curve.svg",
            "DisjointBatches: one label of a batch of one example",
            Subject.from_learner(batches),
            FirstMistake(),
            1,
        ),
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
        _plot(axes, curve, subject.claimed, GRID)
        axes.set_title(panel.title, fontsize="small")
    grid[0][0].legend(fontsize="small")
    figure.supxlabel("ε")
    figure.supylabel("δ(ε)")
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


def draw_alone(one: Alone) -> None:
    """One game in one picture."""
    matplotlib.rcParams["svg.hashsalt"] = "littlestone"
    figure = Figure(figsize=(5.5, 3.2), layout="constrained")
    axes: Any = figure.subplots()
    negligible = Fraction(1, 1 << NEGLIGIBLE_BITS)
    curve = privacy_curve(one.subject, one.adversary, rounds=one.rounds, negligible=negligible)
    claimed = one.subject.claimed
    _plot(axes, curve, claimed, [claimed.epsilon * epsilon for epsilon in GRID])
    axes.set_title(one.title, fontsize="small")
    axes.legend(fontsize="small")
    axes.set_xlabel("ε")
    axes.set_ylabel("δ(ε)")
    figure.savefig(IMAGES / one.picture, metadata={"Date": None})


def _plot(axes: Any, curve: PrivacyCurve, claimed: PrivacyGuarantee, grid: list[float]) -> None:
    exact = [float(curve.delta_bounds(epsilon)[1]) for epsilon in grid]
    promise = [claimed_delta(epsilon, at=claimed.epsilon, delta=claimed.delta) for epsilon in grid]
    axes.plot(grid, promise, "--", color="C1", label="claimed")
    axes.plot(grid, exact, color="C0", label="exact")
    axes.fill_between(grid, exact, promise, color="C1", alpha=0.1)
    axes.grid(alpha=0.3)


if __name__ == "__main__":
    draw()
    for each in alone():
        draw_alone(each)
