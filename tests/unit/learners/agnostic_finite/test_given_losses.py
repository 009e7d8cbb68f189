"""Noisy losses belong to one class, and to horizons that other plans refuse."""

import numpy as np
import pytest

from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.agnostic_finite import running_totals
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.agnostic_finite.running_totals import SkewCirculant


def test_losses_of_another_class_are_refused() -> None:
    """Both have 46 concepts; points of one are none of the other's."""
    losses = NoisyLosses(concepts=Intervals(9), rounds=200, epsilon=1.0, delta=1e-6, batch=10)
    with pytest.raises(ValueError, match=r"experts must be for concepts=Thresholds\(n=45\)"):
        AgnosticFinite(concepts=Thresholds(45), rounds=200, epsilon=1.0, delta=1e-6, experts=losses)


def test_one_plan_that_cannot_be_made_does_not_hide_another() -> None:
    recipe = AgnosticFinite(concepts=Thresholds(2000), rounds=10**6, epsilon=0.01, delta=1e-6)
    assert isinstance(recipe.experts, NoisyLosses)


def test_wide_sums_are_added_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    matrix = SkewCirculant(generator.integers(-9, 10, size=301).astype(np.float64))
    counts = generator.integers(-5, 6, size=301).astype(np.float64)
    whole = matrix.times(counts)
    monkeypatch.setattr(running_totals, "_LARGEST_MATRIX", 1000)  # three columns at a time
    parts = SkewCirculant(matrix.column).times(counts)
    assert (parts == whole).all()
