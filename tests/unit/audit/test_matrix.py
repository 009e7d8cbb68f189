"""The page of the matrix says what was run, and the stored one is about everything registered."""

from pathlib import Path

from littlestone.audit import matrix
from littlestone.audit.auditing import AuditReport
from littlestone.audit.registry import AUDITS, CONTROLS
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

PAGE = Path(__file__).parents[3] / "docs" / "AUDIT.md"


def report(subject: str, bound: float, *, runs: int = 2000) -> AuditReport:
    return AuditReport(
        subject=subject,
        adversary="Someone",
        claimed=PrivacyGuarantee(epsilon=1.0),
        epsilon_lower_bound=bound,
        failure_probability=1e-4,
        runs=runs,
        seconds=1.0,
    )


def strength(name: str, bound: float, exact: float | None) -> matrix.Strength:
    return matrix.Strength(name=name, games=report(name, bound), exact=exact, seconds=2.0)


def test_the_stored_page_names_every_subject_and_every_control_once() -> None:
    page, section = PAGE.read_text(encoding="utf-8"), matrix.enumerated_section()
    assert page.endswith(section)  # python -m littlestone audit --matrix writes it, too
    lines = page.removesuffix(section).splitlines()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    named = [row for row in rows if row not in ("subject", "control")]
    assert sorted(named) == sorted([*AUDITS, *CONTROLS])


def test_in_the_stored_page_controls_are_caught_and_no_subject_is_accused() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if "not caught in" in line] == []
    shares = [
        float(line.split(" | ")[6])
        for line in page.splitlines()
        if line.startswith("| ") and line.split(" | ")[0].removeprefix("| ") in AUDITS
    ]
    assert len(shares) == len(AUDITS)
    assert max(shares) <= 1.0


def test_the_larger_of_both_witnesses_counts() -> None:
    assert strength("exponential", 0.5, None).share == 0.5
    assert strength("exponential", 0.5, 0.9).share == 0.9
    assert strength("exponential", 0.5, 0.9).reached
    assert not strength("exponential", 0.7, None).reached


def test_a_page_tells_what_was_missed() -> None:
    page = matrix._page(
        [strength("exponential", 0.5, 0.9), strength("laplace-count", 0.5, None)],
        [report("no-cut-off", 1.5), report("forked-run", 0.5)],
        jobs=2,
        minutes=3.2,
    )
    assert "1 of 2 reach" in " ".join(page.split())
    assert "| laplace-count | 1 | 0 | 2,000 | 0.500 | – | 0.50 | 0.8, missed | 2.0 |" in page
    assert "1 of 2 are" in page
    assert "not caught in 2,000" in page


def test_games_fit_into_their_time(rng: Randomness) -> None:
    control = CONTROLS["no-cut-off"]
    few = matrix.affordable(control.subject, control.adversary, seconds=0.0, most=10**6, rng=rng)
    many = matrix.affordable(control.subject, control.adversary, seconds=1e6, most=12_345, rng=rng)
    assert (few, many) == (2000, 12_345)
