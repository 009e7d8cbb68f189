"""The claims about Algorithms 3 and 4 hold at their quick sizes, and can be refuted."""

import pytest

from littlestone.claims.agnostic import sanitized_batches_regret
from littlestone.claims.core import Verdict
from littlestone.claims.sanitization import algorithm_4_utility
from littlestone.randomness import Randomness


@pytest.mark.statistical
@pytest.mark.parametrize("module", [algorithm_4_utility, sanitized_batches_regret])
def test_a_quick_run_does_not_refute_it(module: object, rng: Randomness) -> None:
    finding = module.claim.measure(full=False, rng=rng, progress=lambda _: None)  # type: ignore[attr-defined]
    assert finding.verdict is Verdict.NOT_REFUTED, finding.summary
    assert len(finding.rows) == 3


@pytest.mark.statistical
def test_a_promise_of_no_error_at_all_is_refuted(
    rng: Randomness, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A negative bound is exceeded by every run; 18 of 18 are too many for chance (0.05**18).
    monkeypatch.setattr(algorithm_4_utility, "predicted", lambda recipe: -1.0)
    finding = algorithm_4_utility.claim.measure(full=False, rng=rng, progress=lambda _: None)
    assert finding.verdict is Verdict.REFUTED


@pytest.mark.statistical
def test_another_exponent_is_refuted(rng: Randomness, monkeypatch: pytest.MonkeyPatch) -> None:
    # T^(1/4) is eighteen standard errors away from what is measured.
    monkeypatch.setattr(sanitized_batches_regret, "EXPONENTS", (0.2, 0.3))
    finding = sanitized_batches_regret.claim.measure(full=False, rng=rng, progress=lambda _: None)
    assert finding.verdict is Verdict.REFUTED
