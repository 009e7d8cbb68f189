"""Every broken experts algorithm is caught; no correct one is accused."""

import pytest

from littlestone.audit.auditing import audit
from littlestone.audit.expert_audits import AUDITS, BROKEN, CONTROLS
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9
# Each control is proved with 8,000 runs at most nearly always; eight times as many leave the miss
# of any one of them well below 1e-9.
RUNS = 64_000
# Attacks that these few runs show to have teeth, missing it with probability below 1e-9: the bound
# is six standard deviations above zero. (docs/AUDIT.md has the numbers of long audits.)
SHARP = ("exponential-weights", "shrinking-dartboard", "lazy-switching")


def test_every_broken_algorithm_has_an_adversary() -> None:
    assert BROKEN.keys() == CONTROLS.keys()
    assert all(name == subject.name for name, subject in BROKEN.items())


@pytest.mark.statistical
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_algorithm_is_caught(name: str, rng: Randomness) -> None:
    report = audit(BROKEN[name], CONTROLS[name], runs=RUNS, rng=rng)
    assert report.violation, report.verdict


@pytest.mark.statistical
@pytest.mark.parametrize("name", AUDITS)
def test_a_correct_algorithm_is_not_accused(name: str, rng: Randomness) -> None:
    entry = AUDITS[name]
    report = audit(
        entry.subject(1.0, 1e-6),
        entry.adversary,
        runs=24_000 if name in SHARP else 4_000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation, report.verdict
    assert report.epsilon_lower_bound > 0 or name not in SHARP
