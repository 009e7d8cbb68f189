"""The claims about constructed experts run quickly, and can be refuted."""

import pytest

from littlestone.lab.claim import Verdict, examine
from littlestone.lab.claims.constructed_experts import (
    construction_regret,
    experts_are_close,
)
from littlestone.lab.claims.online_mistakes import sparse_majority_mistakes
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.sanitized.plan import ConstructionPlan

CLAIMS = [construction_regret, experts_are_close, sparse_majority_mistakes]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_quick_runs_do_not_refute_it(claim: object) -> None:
    outcome = examine(claim, seed=11)  # type: ignore[arg-type]
    assert outcome.finding.verdict is Verdict.NOT_REFUTED, outcome.finding.summary
    assert outcome.finding.rows


def test_a_bound_that_is_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_small(self: object, *, failure_probability: float) -> float:
        return 10.0

    monkeypatch.setattr(ConstructionPlan, "construction_upper_bound", too_small)
    assert examine(experts_are_close, seed=1).finding.verdict is Verdict.REFUTED


def test_a_learner_that_errs_more_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparseMajority, "mistake_factor", 0.9)
    assert examine(sparse_majority_mistakes, seed=1).finding.verdict is Verdict.REFUTED


def test_a_bound_of_another_shape_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def linear(self: ConstructionPlan, *, failure_probability: float) -> float:
        return float(self.intervals.rounds)

    monkeypatch.setattr(ConstructionPlan, "undetected_upper_bound", linear)
    assert examine(construction_regret, seed=1).finding.verdict is Verdict.REFUTED
