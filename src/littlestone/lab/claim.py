"""A claim is a statement of the paper, turned into something a run can contradict.

Each claim is one module with a function ``claim`` that plays and measures. Quick sizes run in the
tests, full ones by ``make claims``.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from littlestone.randomness import seeded


class Verdict(StrEnum):
    """The result for a statement; a curve alone never confirms an asymptotic one.

    A true statement is refuted with probability at most FALSE_REFUTATION. So no verdict depends on
    a fit to measurements; fits are only reported.
    """

    CONFIRMED = "confirmed"
    NOT_REFUTED = "not refuted"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a picture."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    style: str = "o-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Series to draw over one pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_scale: str = "log"
    y_scale: str = "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The measurements of one run of a claim, beside the predictions."""

    verdict: Verdict
    false_refutation: float
    """An upper bound on the probability that such a run refutes a true statement."""
    summary: str
    rows: Sequence[Mapping[str, Any]]
    pictures: Sequence[Picture] = ()


Progress = Callable[[float], None]
"""Takes the fraction done."""
Measure = Callable[..., Finding]
"""``measure(full: bool, rng: Randomness, progress: Progress) -> Finding``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement, its source, how it is tested and how it is judged."""

    name: str
    says: str
    source: str
    setting: str
    judged: str
    measure: Measure = field(repr=False)


def claimed(*, says: str, source: str, setting: str, judged: str) -> Callable[[Measure], Claim]:
    """Turn a function that measures into the claim of the same name."""

    def made(measure: Measure) -> Claim:
        name = measure.__name__.replace("_", "-")
        return Claim(
            name=name, says=says, source=source, setting=setting, judged=judged, measure=measure
        )

    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finding with the seed and size that reproduce it."""

    claim: Claim
    finding: Finding
    seed: int
    full: bool
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "claim": self.claim.name,
            "source": self.claim.source,
            "says": self.claim.says,
            "setting": self.claim.setting,
            "judged": self.claim.judged,
            "verdict": str(self.finding.verdict),
            "false_refutation": self.finding.false_refutation,
            "summary": self.finding.summary,
            "rows": [dict(row) for row in self.finding.rows],
            "seed": self.seed,
            "size": "full" if self.full else "quick",
            "seconds": round(self.seconds, 2),
        }


def examine(
    claim: Claim, *, seed: int, full: bool = False, progress: Progress | None = None
) -> Outcome:
    """Run a claim with a public seed, since the data are made up."""
    started = time.perf_counter()
    finding = claim.measure(full=full, rng=seeded(seed), progress=progress or (lambda _: None))
    seconds = time.perf_counter() - started
    return Outcome(claim=claim, finding=finding, seed=seed, full=full, seconds=seconds)
