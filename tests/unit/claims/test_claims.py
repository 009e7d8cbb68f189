"""Every claim, at its quick size, with a fresh seed."""

import os
from pathlib import Path

import pytest

from littlestone.claims.core import Verdict, examine
from littlestone.claims.figures import write
from littlestone.claims.registry import CLAIMS


@pytest.mark.statistical
@pytest.mark.parametrize("name", CLAIMS)
def test_a_quick_run_does_not_refute_the_claim(name: str, tmp_path: Path) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    outcome = examine(CLAIMS[name], seed=seed)
    assert outcome.finding.verdict is not Verdict.REFUTED, (seed, outcome.finding.summary)
    assert outcome.finding.rows
    page = write([outcome], tmp_path)
    assert outcome.claim.name in page.read_text(encoding="utf-8")


def test_names_are_those_of_the_claims() -> None:
    assert all(claim.name == name for name, claim in CLAIMS.items())
