"""The auditor against a mechanism whose epsilon is known exactly: randomised response."""

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pytest

from littlestone.audit.auditing import audit, telling_event
from littlestone.audit.two_worlds import Conversation, Subject, World
from littlestone.errors import LittlestoneError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

FALSE_FAILURE_PROBABILITY = 1e-9


def randomized_response(claimed: float) -> Subject:
    """Passes a bit on with probability 3/4, so epsilon is ln 3, whatever is claimed."""

    def start(rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda bit: bit if rng.below(4) else 1 - bit

    return Subject(
        name="randomized response", claimed=PrivacyGuarantee(epsilon=claimed), open=start
    )


@dataclass(frozen=True)
class Challenger:
    def play(self, world: World, rng: Randomness) -> Hashable:
        answer: Any = world.challenge(0, 1)
        return int(answer)


def test_the_bound_stays_below_the_truth_and_comes_close(rng: Randomness) -> None:
    report = audit(
        randomized_response(math.log(3)),
        Challenger(),
        runs=40_000,
        rng=rng,
        failure_probability=FALSE_FAILURE_PROBABILITY,
    )
    assert not report.violation
    # 10,000 games a side in the last stage: the bound falls short by 0.2 with less than 1e-9.
    assert math.log(3) - 0.2 < report.epsilon_lower_bound <= math.log(3)
    assert report.verdict.startswith("no violation found up to here")


def test_an_understated_epsilon_is_caught_before_all_runs_are_played(rng: Randomness) -> None:
    report = audit(randomized_response(0.5), Challenger(), runs=200_000, rng=rng)
    assert report.violation
    assert report.runs < 20_000
    assert report.verdict.startswith("VIOLATION")


def test_a_second_challenge_is_refused(rng: Randomness) -> None:
    world = World(randomized_response(1.0), 0, rng)
    world.challenge(0, 1)
    with pytest.raises(LittlestoneError, match="one round only"):
        world.challenge(0, 1)


def test_delta_is_subtracted_before_the_ratio(rng: Randomness) -> None:
    """An event of probability delta in one world and 0 in the other proves nothing."""
    often: Counter[Hashable] = Counter({"leak": 10, "rest": 990})
    rarely: Counter[Hashable] = Counter({"rest": 1000})
    with_delta = telling_event(often, rarely, delta=0.02, failure_probability=1e-3)
    assert with_delta != ["leak"]


def test_the_event_with_the_larger_ratio_is_preferred() -> None:
    often: Counter[Hashable] = Counter({"a": 5000, "b": 5000})
    rarely: Counter[Hashable] = Counter({"a": 500, "b": 9500})
    assert telling_event(often, rarely, delta=0.0, failure_probability=1e-3) == ["a"]


@pytest.mark.parametrize("runs", [0, -5, 3, 2.5])
def test_too_few_runs_are_refused_by_name(runs: Any, rng: Randomness) -> None:
    with pytest.raises(ValueError, match="runs"):
        audit(randomized_response(1.0), Challenger(), runs=runs, rng=rng)
