"""The two-world game against every sanitizer: correct ones stand, broken ones fall."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.sanitizer_audits import AUDITS, BROKEN, CONTROLS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9


def test_every_broken_sanitizer_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys()


@pytest.mark.statistical
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_sanitizer_is_caught(name: str, rng: Randomness) -> None:
    # Each is caught within 1,000 runs nearly always; 16,000 leave a miss far below 1e-9.
    report = audit(BROKEN[name], CONTROLS[name], runs=16_000, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", AUDITS)
def test_a_correct_sanitizer_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(1.0, 1e-6),
        entry.adversary,
        runs=2_000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "visible"),
    [("histogram-sanitizer", 0.3), ("tree-sanitizer", 0.1)],
)
def test_the_adversary_sees_part_of_the_budget(name: str, visible: float, rng: Randomness) -> None:
    # The bounds lie near 0.7 and 0.4 with so many runs.
    entry = AUDITS[name]
    report = audit(entry.subject(1.0, 1e-6), entry.adversary, runs=12_000, rng=rng)
    assert visible < report.epsilon_lower_bound <= 1.0, report.verdict
