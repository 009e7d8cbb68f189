"""Every broken mechanism is caught; no correct one is accused."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.broken import BROKEN
from littlestone.audit.suite import AUDITS, CONTROLS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9
# Each control is proved with 64,000 runs at most nearly always (docs/AUDIT.md); 512,000 leave
# the miss of any one of them well below the suite's 1e-9.
RUNS = 512_000


def test_every_broken_mechanism_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys()


@pytest.mark.statistical
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_caught(name: str, rng: Randomness) -> None:
    report = audit(BROKEN[name], CONTROLS[name], runs=RUNS, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", AUDITS)
def test_a_correct_mechanism_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(1.0, 1e-6),
        entry.adversary,
        runs=20_000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict
    assert report.epsilon_lower_bound > 0.3
