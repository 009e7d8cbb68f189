"""Some constructed expert is close to each concept, and constructing them costs T^(1/3).

``experts-are-close``: Some constructed expert is close to each concept, noise and all [P, Theorem
    experts].
``construction-regret``: Constructing the experts costs of order T^(1/3), beyond prediction [P,
    Theorem agnostic2].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.lab.claim import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.lab.measuring import (
    FALSE_REFUTATION,
    Measured,
    closest_expert,
    column,
    curves,
    power,
    released_points,
    tabulate,
)
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.sanitized.families import RealizableFamily, TreeFamily, error_class
from littlestone.learners.sanitized.plan import ConstructionPlan
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.learners.sanitizers.interval_sanitizer import Family
from littlestone.randomness import Randomness

CLOSE_DELTA = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """A class with a sanitizer, and an epsilon that suits the horizon."""

    concepts: ConceptClass
    sanitizer: str
    epsilon: float
    powers: tuple[int, ...]
    """The horizons are two to these powers; the first is the quick one."""

    def targets(self) -> list[Hypothesis]:
        """Return the concepts to be approximated."""
        if self.concepts.size is not None:
            return list(self.concepts.concepts())
        return [FiniteSupport.on(key) for key in (1, 2, 5)]

    def stream(self, rounds: int, generator: np.random.Generator) -> list[Point]:
        """Return the points of one stream."""
        size = self.concepts.domain.size
        chosen = generator.integers(size, size=rounds) if size else generator.zipf(1.5, rounds)
        return list(chosen.tolist())


SETTINGS = (
    Sizes(concepts=Points(), sanitizer="histogram", epsilon=8.0, powers=(13, 15, 17)),
    Sizes(concepts=Thresholds(3), sanitizer="tree", epsilon=8.0, powers=(13, 15, 17)),
    Sizes(concepts=Thresholds(3), sanitizer="realizable", epsilon=64.0, powers=(16, 18)),
)


def measured(setting: Sizes, rounds: int, allowed: float, rng: Randomness) -> Measured:
    """Return the largest distance of a concept from its closest expert, beside the bound."""
    recipe = SanitizedExperts(
        concepts=setting.concepts,
        rounds=rounds,
        epsilon=setting.epsilon,
        delta=CLOSE_DELTA,
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
    source="[P], Theorem E.10 (thm:experts), constants: learners/sanitized/recipe.md",
    setting="points and thresholds, three sanitizers, 2^13 to 2^18 rounds (quick: the shortest)",
    judged="a concept farther from every expert than the bound refutes it (by chance: 1e-9)",
)
def experts_are_close(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Search for a concept that is farther from all experts than the bound allows."""
    cases = [
        (setting, 1 << power)
        for setting in SETTINGS
        for power in (setting.powers if full else setting.powers[:1])
    ]
    allowed = FALSE_REFUTATION / len(cases)
    rows = tabulate(cases, lambda case: measured(*case, allowed, rng), progress)
    within = all(row["farthest concept"] <= row["bound"] for row in rows)
    share = max(row["farthest concept"] / row["bound"] for row in rows)
    return Finding(
        verdict=Verdict.NOT_REFUTED if within else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"the farthest concept needed {share:.0%} of the bound",
        rows=rows,
        pictures=[_close_picture(rows)] if full else [],
    )


def _close_picture(rows: Sequence[Measured]) -> Picture:
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


CONCEPTS = Thresholds(3)
EPSILON, CONSTRUCTION_DELTA = 64.0, 1e-3
LEVELS = 4
"""Intervals of T, T/2, T/4 and T/8 rounds; further levels would change constants only."""
QUICK = (12, 15, 25, 28)
FULL = (12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
RUN_UP_TO = {False: 15, True: 18}
EXPONENTS = (0.27, 0.4)


def construction(family: Family, rounds: int) -> ConstructionPlan:
    """Return the plan at a horizon."""
    shortest = rounds >> LEVELS - 1
    return ConstructionPlan.of(
        family, SparseMajority(CONCEPTS), rounds=rounds, shortest=shortest, switch_grid=shortest
    )


def tried(rounds: int) -> list[int]:
    """Return the tried numbers of disagreements, each 1.5 times the one before."""
    counts = [8]
    while counts[-1] * 3 // 2 < rounds:
        counts.append(counts[-1] * 3 // 2)
    return counts


def missed(plan: ConstructionPlan, rng: Randomness) -> int:
    """Return the largest tried number of evenly spread disagreements that went unnoticed.

    The concept differs from the experts' initial hypothesis on one point.
    """
    base, rounds = SparseMajority(CONCEPTS), plan.intervals.rounds
    first, concept = base.start().hypothesis, next(CONCEPTS.concepts())
    rare = first.disagreement(concept)
    common = next(x for x in CONCEPTS.domain if first(x) == concept(x))
    largest = 0
    for count in tried(rounds):
        places = {round((i + 0.5) * rounds / count) for i in range(count)}
        xs = [rare if place in places else common for place in range(rounds)]
        released = released_points(plan, xs, rng=rng)
        if closest_expert(base, concept, xs, released, switch_grid=plan.switch_grid) < len(places):
            break
        largest = len(places)
    return largest


@claimed(
    says="With the paper's sanitizer, constructing the experts adds of order T^(1/3) to regret.",
    source="[P], Theorem 4.4 (thm:agnostic2) and Theorem E.10 (thm:experts)",
    setting=f"thresholds on {CONCEPTS.n} points, ε = {EPSILON:g}, {LEVELS} levels; bounds up to "
    f"2^{FULL[-1]} rounds, runs up to 2^{RUN_UP_TO[True]} (quick: 2^{QUICK[-1]} and "
    f"2^{RUN_UP_TO[False]})",
    judged=f"refuted if a run misses more than the bound (by chance: 1e-9) or the bound's exponent "
    f"at the end lies outside {EXPONENTS[0]} … {EXPONENTS[1]}; no fit confirms it",
)
def construction_regret(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Return the exponent between the largest horizons by the bound, and runs at the smallest."""
    errors, powers = error_class(SparseMajority(CONCEPTS)), FULL if full else QUICK
    played = [exponent for exponent in powers if exponent <= RUN_UP_TO[full]]
    allowed = FALSE_REFUTATION / sum(len(tried(1 << exponent)) for exponent in played)
    paper = RealizableFamily(
        concepts=errors,
        epsilon=EPSILON,
        delta=CONSTRUCTION_DELTA,
        failure_probability=allowed / (2 << LEVELS),  # there are fewer releases
    )
    tree = TreeFamily(concepts=errors, epsilon=EPSILON)

    def measured(exponent: int) -> Measured:
        plan, by_tree = (construction(family, 1 << exponent) for family in (paper, tree))
        return {
            "rounds": 1 << exponent,
            "unnoticed": plan.undetected_upper_bound(failure_probability=allowed),
            "unnoticed by a tree": by_tree.undetected_upper_bound(failure_probability=allowed),
            "missed in a run": missed(plan, rng) if exponent in played else None,
        }

    rows = tabulate(powers, measured, progress)
    fitted = _exponent(rows[-2:], "unnoticed")
    runs = [row for row in rows if row["missed in a run"] is not None]
    within = all(row["missed in a run"] <= row["unnoticed"] for row in runs)
    fits = EXPONENTS[0] <= fitted <= EXPONENTS[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if within and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"what may go unnoticed grows like T^{fitted:.2f} at the end, what did in runs "
        f"like T^{_exponent(runs, 'missed in a run'):.2f}",
        rows=rows,
        pictures=[_construction_picture(rows)],
    )


def _exponent(rows: Sequence[Measured], key: str) -> float:
    return power(column(rows, "rounds"), column(rows, key, at_least=1))


def _construction_picture(rows: Sequence[Measured]) -> Picture:
    xs = column(rows, "rounds")
    third = [rows[-1]["unnoticed"] * (x / xs[-1]) ** (1 / 3) for x in xs]
    paper, tree, run = curves(
        rows,
        "rounds",
        ("the paper's sanitizer", "unnoticed", "o-"),
        ("a tree", "unnoticed by a tree", "o-"),
        ("missed in a run", "missed in a run", "s"),
        at_least=1,
    )
    return Picture(
        title=f"Disagreements that go unnoticed: {CONCEPTS.size} thresholds, ε = {EPSILON:g}",
        x_label="rounds",
        y_label="disagreements",
        series=[paper, Series(name="T^(1/3)", xs=xs, ys=third, style=":"), tree, run],
    )


CLAIMS = (
    experts_are_close,
    construction_regret,
)
