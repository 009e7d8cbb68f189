"""Ranking: means are compared with means, and whatever cannot be built is refused, not raised."""

import time
from typing import Any

import pytest

from littlestone.choose.auto import FAILURE, Candidate
from littlestone.choose.recommendation import recommend
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest

BUDGET: dict[str, Any] = {"rounds": 10**6, "epsilon": 1.0, "delta": 1e-6}
FITTING: dict[str, Any] = {"setting": "realizable", "adversary": "adaptive"}


def means(candidates: tuple[Candidate, ...], setting: str) -> list[float]:
    name = "expected_mistake_bound" if setting == "realizable" else "expected_regret_bound"
    return [getattr(candidate.recipe, name)() for candidate in candidates]


@pytest.mark.parametrize("setting", ["realizable", "agnostic"])
@pytest.mark.parametrize("adversary", ["adaptive", "oblivious"])
def test_every_candidate_is_ranked_by_the_mean_of_the_same_quantity(
    setting: Any, adversary: Any
) -> None:
    advice = recommend(Thresholds(6), setting=setting, adversary=adversary, **BUDGET)
    candidates = [one for one in advice.candidates if not one.practical]
    proved = [not candidate.calibrated for candidate in candidates]
    expected = [candidate.expected for candidate in candidates]
    assert expected == sorted(expected)
    assert sum(proved) >= 3
    pairs = zip(expected, means(tuple(candidates), setting), proved, strict=True)
    assert all(mean == bound for mean, bound, shown in pairs if shown)


def test_a_small_mean_beside_a_larger_bound_does_not_hide_that_bound() -> None:
    advice = recommend(Thresholds(15), setting="agnostic", adversary="adaptive", **BUDGET)
    assert advice.best is not None and advice.best.name == "agnostic-finite"
    assert f"{advice.best.bound:,.0f}" in advice.explanation
    assert f"{advice.best.expected:,.0f} on average" in advice.explanation
    assert advice.best.bound == advice.best.recipe.regret_bound(failure_probability=FAILURE)


def test_the_practical_learner_comes_first_beside_one_with_a_bound() -> None:
    advice = recommend(Thresholds(15), **BUDGET)
    assert advice.best is not None and advice.best.name == "disjoint-batches"
    assert advice.best.bound == float("inf") and advice.proved == advice.candidates[1]
    # The dartboard's regret may exceed its mean by far.
    assert advice.proved.expected < 2_000 < 30_000 < advice.proved.bound
    assert f"agnostic-finite, {advice.proved.expected:,.0f}" in advice.explanation


def test_a_calibrated_mean_is_said_to_have_no_proof() -> None:
    advice = recommend(SparseSets(2), **BUDGET, **FITTING)
    keys, best, second = advice.candidates[:3]
    assert keys.name == "private-keys" and not keys.calibrated and keys.expected < 80
    assert best.calibrated and best.bound == best.recipe.rounds
    assert "from its calibration" in best.reason
    assert second.name == "lazy-forest (proved)" and not second.calibrated
    assert isinstance(second.recipe, LazyForest) and second.recipe.plan.made_by == "proved"


@pytest.mark.parametrize("concepts", [Points(), Points(256), Thresholds(16)])
def test_an_endless_horizon_is_no_reason_to_crash(concepts: Any) -> None:
    advice = recommend(concepts, **{**BUDGET, **FITTING, "rounds": 10**12})
    assert advice.useful
    if concepts == Points():
        assert "2**32" in advice.refused["sanitized-experts"]


def test_a_very_long_stream_is_answered_at_once() -> None:
    began = time.process_time()
    advice = recommend(Points(), rounds=10**12, **FITTING)
    assert advice.best is not None and advice.best.bound <= 1000
    assert time.process_time() - began < 20  # of computing; counting round by round would take days


def test_what_is_asked_for_must_be_one_of_the_two() -> None:
    with pytest.raises(ValueError, match="setting must be 'agnostic' or 'realizable'"):
        recommend(Thresholds(6), setting="private", **BUDGET)
    with pytest.raises(ValueError, match="adversary must be 'oblivious' or 'adaptive'"):
        recommend(Thresholds(6), adversary="kind", **BUDGET)


def test_where_nobody_is_shown_to_learn_it_says_what_would_help() -> None:
    advice = recommend(Thresholds(2), rounds=300, epsilon=0.05, **FITTING)
    assert advice.best is not None and not advice.useful
    assert "No learner is shown to do better than a constant rule in 300 rounds" in (
        advice.explanation
    )
    assert "would change that" in advice.explanation


def test_the_linear_learner_is_hinted_at_by_public_facts() -> None:
    numbers = {f"x{i}": {"range": [0, 10]} for i in range(6)}
    words = {f"w{i}": {"values": ["a", "b", "c"]} for i in range(8)}
    hint = "learner = 'linear' may make fewer"
    assert hint in recommend(numbers, rounds=10_000).explanation
    assert hint in recommend(numbers, rounds=100_000, epsilon=0.1).explanation
    assert hint not in recommend(numbers, rounds=9_000).explanation
    assert hint not in recommend(words, rounds=10_000).explanation
    many = {f"x{i}": {"range": [0, 10]} for i in range(20)}
    assert hint not in recommend(many, rounds=10_000).explanation
