"""Every broken learner is caught, no correct one is accused, and each adversary finds something."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.broken_learners import BROKEN, CONTROLS
from littlestone.audit.learner_audits import AUDITS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9
# Minutes on a busy machine: kept out of the quick suite.
pytestmark = pytest.mark.slow
# Each of these controls is proved with 16,000 runs at most nearly always; 128,000 leave the miss
# of any one of them well below 1e-9.
RUNS = 128_000
# These take minutes (docs/AUDIT.md has them): little more than delta, or many phases in each game.
SLOW = {"forest-delta-not-divided", "majority-counts-kept"}
# What 3,000 runs prove is well above this for every learner that publishes at this epsilon.
LEAST = 0.02
SILENT = {"fresh-copies"}


def test_every_broken_learner_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys() >= SLOW
    assert AUDITS.keys() >= SILENT


@pytest.mark.statistical
@pytest.mark.parametrize("name", [name for name in BROKEN if name not in SLOW])
def test_a_broken_learner_is_caught(name: str, rng: Randomness) -> None:
    report = audit(BROKEN[name], CONTROLS[name], runs=RUNS, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", [name for name in AUDITS if name not in SILENT])
def test_a_correct_learner_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(2.0, 1e-3),
        entry.adversary,
        runs=3000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict
    assert report.epsilon_lower_bound > LEAST


@pytest.mark.statistical
@pytest.mark.parametrize("name", sorted(SILENT))
def test_a_learner_that_publishes_at_a_large_epsilon_only_is_not_accused(
    name: str, rng: Randomness
) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(40.0, 0.01),
        entry.adversary,
        runs=2000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict
