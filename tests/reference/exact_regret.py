"""The regret of noisy losses with two concepts, exactly, against the best of all adversaries.

Two constants, of which every example tells one wrong: what counts is the difference D of their
losses and the noise Z in the estimate of D, both public after each batch here, which is more than
an adversary knows. What it can gain from there on is found backwards, batch after batch.
"""

import math

import numpy as np
from numpy.typing import NDArray

from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.running_totals import total_error

Floats = NDArray[np.float64]


def worst_expected_regret(plan: NoisyLosses) -> float:
    """Of ``plan`` for ``Thresholds(1)`` and independent noise."""
    weights = plan.queries.estimates(np.eye(1))[0]
    law = _law(float(plan.variance))
    reach = plan.releases * (len(law) // 2)
    noise = (weights[0] - weights[1]) * np.arange(-reach, reach + 1)
    differences = np.arange(-plan.rounds, plan.rounds + 1.0)[:, None]
    first = 1 / (1 + np.exp(plan.rate * (differences + noise)))
    gain = np.repeat((np.abs(differences) - plan.rounds) / 2, len(noise), axis=1)
    for batch in range(plan.releases, -1, -1):
        if batch < plan.releases:
            gain = np.array([np.convolve(row, law, mode="same") for row in gain])
        gain = _best(gain, first, plan.lengths[batch == plan.releases])
    return float(gain[plan.rounds, reach])


def worst_oblivious_regret(plan: NoisyLosses) -> float:
    """The same on the worst stream that is settled before; what a batch costs is a mean over Z.

    For noise that is correlated, and so wide that the law of Z is as good as normal.
    """
    assert plan.epoch is not None and plan.variance > 50
    weights = plan.queries.estimates(np.eye(1))[0]
    places, chances = np.polynomial.hermite_e.hermegauss(100)
    differences = np.arange(-plan.rounds, plan.rounds + 1.0)[:, None]
    gain = (np.abs(differences) - plan.rounds) / 2
    for batch in range(plan.releases, -1, -1):
        variance = float(plan.variance) * (total_error(batch, plan.epoch) if batch else 0.0)
        noise = abs(weights[0] - weights[1]) * math.sqrt(variance) * places
        first = 1 / (1 + np.exp(plan.rate * (differences + noise)))
        mean = (first @ chances / chances.sum())[:, None]
        gain = _best(gain, mean, plan.lengths[batch == plan.releases])
    return float(gain[plan.rounds, 0])


def _best(gain: Floats, first: Floats, length: int) -> Floats:
    """Before a batch in which the first concept errs as often as is best, the second otherwise."""
    padded = np.pad(gain, ((length, length), (0, 0)), constant_values=-math.inf)
    choices = (
        first * errors + (1 - first) * (length - errors) + padded[2 * errors :][: len(gain)]
        for errors in range(length + 1)
    )
    return np.max(list(choices), axis=0)


def _law(variance: float) -> Floats:
    reach = math.ceil(8 * math.sqrt(variance)) + 2
    law = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return law / law.sum()
