"""SanitizedExperts in the two-world game: not accused; its broken relatives are caught."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.sanitized_experts_audits import AUDITS, BROKEN, CONTROLS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9


def test_every_broken_learner_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys()


@pytest.mark.statistical
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_learner_is_caught(name: str, rng: Randomness) -> None:
    # What is noticed has probability above 1/3 in one world and 0 in the other: 2000 games miss
    # it with probability below 1e-100.
    report = audit(BROKEN[name], CONTROLS[name], runs=2000, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", AUDITS)
def test_the_learner_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(1.0, 1e-2),
        entry.adversary,
        runs=2000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict
