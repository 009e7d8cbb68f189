"""How close the auditor comes to the truth on correct mechanisms, and how fast."""

from collections.abc import Iterator

from littlestone.audit.auditing import audit
from littlestone.audit.registry import AUDITS
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

RUNS = 200_000
TARGETS = {
    "laplace-count": 0.8,
    "exponential": 0.8,
    "above-threshold": 0.5,
    "private-histogram": 0.5,
}


def measure() -> Iterator[Row]:
    rng = secure()
    for name, target in TARGETS.items():
        entry = AUDITS[name]
        report = audit(entry.subject(1.0, 1e-6), entry.adversary, runs=RUNS, rng=rng)
        bound = report.epsilon_lower_bound
        yield (
            f"{name}: lower bound on epsilon = 1, {report.runs} runs",
            f"{bound:.3f} in {report.seconds:.1f} s",
            f">= {target} in 60 s",
            target <= bound <= 1 and report.seconds < 60,
        )
