"""Some constructed expert is close to each concept, noise and all [P, Theorem experts]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.learners.sanitized_experts.closeness import closest_expert, released_points
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts
from littlestone.online.sparse_majority.recipe import SparseMajority
from littlestone.randomness import Randomness

DELTA = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A class with a sanitizer, and as much epsilon as makes the horizon interesting."""

    concepts: ConceptClass
    sanitizer: str
    epsilon: float
    powers: tuple[int, ...]
    """The horizons are two to these powers; the first is the quick one."""

    def targets(self) -> list[Hypothesis]:
        if self.concepts.size is not None:
            return list(self.concepts.concepts())
        return [FiniteSupport.on(key) for key in (1, 2, 5)]

    def stream(self, rounds: int, generator: np.random.Generator) -> list[Point]:
        size = self.concepts.domain.size
        chosen = generator.integers(size, size=rounds) if size else generator.zipf(1.5, rounds)
        return list(chosen.tolist())


SETTINGS = (
    Setting(concepts=Points(), sanitizer="histogram", epsilon=8.0, powers=(13, 15, 17)),
    Setting(concepts=Thresholds(3), sanitizer="tree", epsilon=8.0, powers=(13, 15, 17)),
    Setting(concepts=Thresholds(3), sanitizer="realizable", epsilon=64.0, powers=(16, 18)),
)


def measured(setting: Setting, rounds: int, allowed: float, rng: Randomness) -> Row:
    """The largest distance of a concept from its closest expert, beside the bound."""
    recipe = SanitizedExperts(
        concepts=setting.concepts,
        rounds=rounds,
        epsilon=setting.epsilon,
        delta=DELTA,
        sanitizer=setting.sanitizer,
        sanitizer_share=0.5,
        switch_grid=rounds // 16,
        planned_failure=allowed,
    )
    plan = recipe.plan.construction
    xs = setting.stream(rounds, rng.generator())
    released = released_points(plan, xs, rng=rng)
    distances = [
        closest_expert(
            SparseMajority(setting.concepts), target, xs, released, switch_grid=plan.switch_grid
        )
        for target in setting.targets()
    ]
    return {
        "class": repr(setting.concepts),
        "sanitizer": setting.sanitizer,
        "epsilon": setting.epsilon,
        "rounds": rounds,
        "farthest concept": max(distances),
        "bound": plan.construction_upper_bound(failure_probability=allowed),
        "concepts tried": len(distances),
    }


@claimed(
    says="For every concept some constructed expert differs from it in at most M(K + s) rounds.",
    source="[P], Theorem E.10 (thm:experts), constants: learners/sanitized_experts/algorithm.md",
    setting="points and thresholds, three sanitizers, 2^13 to 2^18 rounds (quick: the shortest)",
    judged="a concept farther from every expert than the bound refutes it (by chance: 1e-9)",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """One concept farther from all experts than the bound refutes the theorem as we run it."""
    cases = [
        (setting, 1 << power)
        for setting in SETTINGS
        for power in (setting.powers if full else setting.powers[:1])
    ]
    allowed = FALSE_REFUTATION / len(cases)
    rows = tabulate(cases, lambda case: measured(*case, allowed, rng), progress)
    kept = all(row["farthest concept"] <= row["bound"] for row in rows)
    share = max(row["farthest concept"] / row["bound"] for row in rows)
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"the farthest concept needed {share:.0%} of the bound",
        rows=rows,
        pictures=[_picture(rows)] if full else [],
    )


def _picture(rows: Sequence[Row]) -> Picture:
    return Picture(
        title="How far a concept is from the closest constructed expert",
        x_label="rounds",
        y_label="rounds in which they differ",
        series=[
            series
            for name in dict.fromkeys(column(rows, "sanitizer"))
            for series in curves(
                [row for row in rows if row["sanitizer"] == name],
                "rounds",
                (f"{name}: farthest concept", "farthest concept", "o-"),
                (f"{name}: bound", "bound", "--"),
                at_least=0.5,
            )
        ],
    )
