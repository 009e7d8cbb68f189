"""Every claim, at its quick size, with a fresh seed; and every claim can be refuted."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats
from tests.chance import FALSE_FAILURE_PROBABILITY

from littlestone.lab.claim import Verdict, examine
from littlestone.lab.every_claim import CLAIMS
from littlestone.lab.figures import write
from littlestone.lab.measuring import MeanRegret
from littlestone.learners.experts.dartboard_plan import KeepCoin
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun


@pytest.mark.statistical
@pytest.mark.parametrize("name", CLAIMS)
def test_a_quick_run_does_not_refute_the_claim(name: str, tmp_path: Path) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    outcome = examine(CLAIMS[name], seed=seed)
    assert outcome.finding.verdict is not Verdict.REFUTED, (seed, outcome.finding.summary)
    assert outcome.finding.false_refutation <= FALSE_FAILURE_PROBABILITY
    assert outcome.finding.rows
    page = write([outcome], tmp_path)
    assert outcome.claim.name in page.read_text(encoding="utf-8")


def test_names_are_those_of_the_claims() -> None:
    assert all(claim.name == name for name, claim in CLAIMS.items())


def always(value: Any) -> Callable[..., Any]:
    return lambda *given, **named: value


def as_many(learner: Any, *, runs: int, **_: Any) -> list[int]:
    """A mistake in every round."""
    return [learner.rounds] * runs


def never_learned(learner: Any, *_: Any) -> tuple[int, bool]:
    """One mistake without restarts, and one in every round with them."""
    return (1_500 if learner.restarts else 1), False


def behind(learner: Any, *_: Any, rounds: int, **__: Any) -> Any:
    """Who repeats the labels of the last batch errs in every round, and the best in every other."""
    return SimpleNamespace(known_regret=rounds // 2, regret=rounds // 2)


def linear_regret(recipe: Any, *_: Any, rounds: int, **__: Any) -> Any:
    return SimpleNamespace(known_regret=rounds, regret_curve=[(rounds, rounds)])


# What a part of each claim is replaced by, so that it measures what contradicts it. Nothing is left
# to chance: each is refuted with certainty.
BROKEN: dict[str, dict[str, Any]] = {
    "above-threshold-error": {"_error": always(10**9)},
    "adaptive-breaks-dartboard": {"play_experts": linear_regret},
    "algorithm-4-utility": {"utility_predicted": always(-1.0)},
    "construction-regret": {"missed": always(10**9)},
    "coupon-collector": {"_half_is_missed": always(True)},
    "dimension-growth": {"forced_mistakes": as_many},
    "experts-are-close": {"closest_expert": always(10**9)},
    "forest-log-growth": {"forced_mistakes": as_many},
    "fresh-copies-root-growth": {"power": always(1.0), "forced_mistakes": as_many},
    "generator-rounds": {"most_objections": always(10**9)},
    "histogram-error": {"histogram_error_upper_bound": always(0.0)},
    "littlestone-mistakes": {"optimal_predicted": always(-1)},
    "polynomial-teachers": {"mistakes_upper_bound": always(1.0)},
    "privacy-is-free": {"mean_regret": always(MeanRegret(1e9, 0.0, 1))},
    "privacy-parameters": {"forced_mistakes": as_many},
    "realizable-samples": {"REALIZABLE_EXPONENTS": (2.0, 2.1)},
    "regret-square-root": {"mean_regret": always(MeanRegret(1e9, 0.0, 1))},
    "restarts": {"_game": never_learned},
    "sanitized-batches-regret": {"play": behind},
    "sanitizer-samples": {"SAMPLES_EXPONENTS": (1.0, 1.1)},
    "sanitizers-compared": {"largest_error": always(1.1)},
    "sparse-majority-mistakes": {"majority_predicted": always(-1.0)},
    "update-lemma": {"_least_survivors": always(0)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_what_contradicts_a_claim_refutes_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for attribute, value in BROKEN[name].items():
        monkeypatch.setattr(import_module(CLAIMS[name].measure.__module__), attribute, value)
    assert examine(CLAIMS[name], seed=1).finding.verdict is Verdict.REFUTED


@pytest.mark.statistical
def test_experts_that_are_drawn_uniformly_exceed_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def uniform(run: IncrementalSelectionRun) -> int:
        return int(run._rng.below(len(run._scores.as_array())))

    monkeypatch.setattr(IncrementalSelectionRun, "draw", uniform)
    finding = examine(CLAIMS["regret-square-root"], seed=int.from_bytes(os.urandom(4))).finding
    assert finding.verdict is Verdict.REFUTED
    # In the longest games each fresh draw shares the others' loss with probability 15/16.
    row = [row for row in finding.rows if row["algorithm"] == "ExponentialWeights"][-1]
    games, losses = row["games"], row["losses"]
    limit = games * (row["bound"] + row["deviation"])
    assert stats.binom.cdf(limit, games * losses, 15 / 16) <= FALSE_FAILURE_PROBABILITY


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["regret-square-root", "privacy-is-free"])
def test_an_expert_that_is_never_left_exceeds_the_bound(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeepCoin, "draw", always(True))
    finding = examine(CLAIMS[name], seed=int.from_bytes(os.urandom(4))).finding
    assert finding.verdict is Verdict.REFUTED
    # The first expert is one of fifteen that lose with probability 15/16; then it loses throughout.
    row = finding.rows[-1]
    limit = row["games"] * (row["bound"] + row["deviation"]) / row["losses"]
    assert stats.binom.cdf(limit, row["games"], 15 / 16) <= FALSE_FAILURE_PROBABILITY
