"""The computed numbers of docs/SANITIZERS.md are those of the code."""

from pathlib import Path

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.sanitization import sanitizer_samples_upper_bound

PAGE = (Path(__file__).parents[4] / "docs" / "SANITIZERS.md").read_text(encoding="utf-8")
LINE = Thresholds(1023)


def test_examples_needed() -> None:
    rho = ZeroConcentrated.largest(epsilon=1.0, delta=1e-6).rho
    needed = [
        sanitizer_samples_upper_bound(
            concepts=1024, points=1023, error=0.1, zcdp=rho, failure_probability=0.05
        )
    ]
    for recipe in (
        FoolingSanitizer.planned(concepts=LINE, size=1000, epsilon=1.0, delta=1e-6),
        RealizableSanitizer.planned(concepts=LINE, size=1000, epsilon=1.0, delta=1e-6),
        TreeSanitizer(concepts=Thresholds(1024), epsilon=1.0, delta=1e-6),
        HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6),
    ):
        needed.append(recipe.needed(error=0.1, failure_probability=0.05))
    for number in needed:
        assert f"| {number:,} |" in PAGE


def test_errors_at_a_hundred_thousand_examples() -> None:
    size = 100_000
    planned = FoolingSanitizer.planned(concepts=LINE, size=size, epsilon=1.0, delta=1e-6)
    optimistic = FoolingSanitizer.planned(
        concepts=LINE, size=size, epsilon=1.0, delta=1e-6, optimism=8
    )
    flags = RealizableSanitizer.planned(concepts=LINE, size=size, epsilon=1.0, delta=1e-6)
    tree = TreeSanitizer(concepts=Thresholds(1024), epsilon=1.0, delta=1e-6)
    won = optimistic.discriminator.accuracy(
        optimistic.queries, size=size, failure_probability=0.05
    ).win
    assert f"{planned.error_bound(size=size, failure_probability=0.05):.3f} at n" in PAGE
    assert f"{won:.3f} for a release that has `won`" in PAGE
    assert f"above {flags.error_bound(size=size, failure_probability=0.05):.2f} at n" in PAGE
    assert f"{tree.error_bound(size=size, failure_probability=0.05) * size:.0f}/n" in PAGE
    assert planned.discriminator.rounds == 1730 and "1,730" in PAGE
