"""The two-world game against proper learners and Algorithms 3 and 4, and against wrong ones."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.proper_audits import AUDITS, BROKEN, CONTROLS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9


def test_every_broken_learner_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys()


@pytest.mark.statistical
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_learner_is_caught(name: str, rng: Randomness) -> None:
    # Each is caught within 4,000 runs nearly always; 32,000 leave a miss far below 1e-9.
    report = audit(BROKEN[name], CONTROLS[name], runs=32_000, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", AUDITS)
def test_a_correct_learner_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    subject = entry.subject(1.0, 1e-6)
    assert subject.guarantee().epsilon <= 1.0
    report = audit(
        subject,
        entry.adversary,
        runs=2_000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["permute-and-flip-selection", "sparse-sample"])
def test_the_adversary_sees_part_of_the_budget(name: str, rng: Randomness) -> None:
    # The bounds lie near 0.6 and 0.4 with so many runs, several standard errors above 0.05.
    entry = AUDITS[name]
    report = audit(entry.subject(1.0, 1e-6), entry.adversary, runs=8_000, rng=rng)
    assert 0.05 < report.epsilon_lower_bound <= 1.0, report.verdict
