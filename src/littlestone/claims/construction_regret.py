"""[P, Theorem agnostic2]: constructing the experts costs of order T^(1/3), beyond prediction."""

from typing import Any

from littlestone.claims.core import Claim, Finding, Picture, Progress, Series, Verdict
from littlestone.claims.measuring import FALSE_REFUTATION, power
from littlestone.concepts.intervals import Intervals
from littlestone.concepts.thresholds import Thresholds
from littlestone.learners.sanitized_experts_closeness import closest_expert, released_points
from littlestone.learners.sanitized_experts_families import (
    RealizableFamily,
    TreeFamily,
    error_class,
)
from littlestone.learners.sanitized_experts_plan import ConstructionPlan
from littlestone.online.sparse_majority import SparseMajority
from littlestone.randomness import Randomness
from littlestone.sanitizers.intervals import Family

CONCEPTS = Thresholds(3)
EPSILON, DELTA = 64.0, 1e-3
LEVELS = 4
"""Intervals of T, T/2, T/4 and T/8 rounds; further levels would change constants only."""
QUICK = (16, 22, 25, 28)
FULL = (14, 16, 18, 20, 22, 24, 26, 28, 30)
RUN_UP_TO = {False: 16, True: 20}
EXPONENTS = (0.27, 0.4)


def construction(family: Family, rounds: int) -> ConstructionPlan:
    shortest = rounds >> LEVELS - 1
    return ConstructionPlan.of(
        family, SparseMajority(CONCEPTS), rounds=rounds, shortest=shortest, switch_grid=shortest
    )


def unnoticed(plan: ConstructionPlan) -> float:
    """So many disagreements with a concept may go unnoticed."""
    return plan.undetected_upper_bound(failure_probability=FALSE_REFUTATION)


def measured(plan: ConstructionPlan, rng: Randomness) -> int:
    """How far the farthest concept is from its closest expert, on points at random."""
    base = SparseMajority(CONCEPTS)
    xs = rng.below_many(CONCEPTS.n, plan.intervals.rounds).tolist()
    released = released_points(plan, xs, rng=rng)
    return max(
        closest_expert(base, concept, xs, released, switch_grid=plan.switch_grid)
        for concept in CONCEPTS.concepts()
    )


def measure(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The exponent between the largest horizons by the bound, and runs at the smallest."""
    errors, powers = error_class(SparseMajority(CONCEPTS)), FULL if full else QUICK
    assert isinstance(errors, Intervals)
    paper = RealizableFamily(
        concepts=errors,
        epsilon=EPSILON,
        delta=DELTA,
        failure_probability=FALSE_REFUTATION / (2 << LEVELS),  # there are fewer releases
    )
    tree = TreeFamily(concepts=errors, epsilon=EPSILON)
    rows: list[dict[str, Any]] = []
    for number, exponent in enumerate(powers, start=1):
        plan = construction(paper, 1 << exponent)
        rows.append(
            {
                "rounds": 1 << exponent,
                "unnoticed": unnoticed(plan),
                "unnoticed by a tree": unnoticed(construction(tree, 1 << exponent)),
                "farthest concept": measured(plan, rng) if exponent <= RUN_UP_TO[full] else None,
                "its bound": plan.construction_upper_bound(failure_probability=FALSE_REFUTATION),
            }
        )
        progress(number / len(powers))
    horizons, hidden = zip(*((row["rounds"], row["unnoticed"]) for row in rows[-2:]), strict=True)
    fitted = power(horizons, hidden)
    runs = [row for row in rows if row["farthest concept"] is not None]
    kept = all(row["farthest concept"] <= row["its bound"] for row in runs)
    fits = EXPONENTS[0] <= fitted <= EXPONENTS[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        summary=f"what may go unnoticed grows like T^{fitted:.2f} at the end; runs keep the bound",
        rows=rows,
        pictures=[_picture(rows)],
    )


def _picture(rows: list[dict[str, Any]]) -> Picture:
    xs = [row["rounds"] for row in rows]
    third = [rows[-1]["unnoticed"] * (x / xs[-1]) ** (1 / 3) for x in xs]
    return Picture(
        title=f"Disagreements that go unnoticed: {CONCEPTS.size} thresholds, ε = {EPSILON:g}",
        x_label="rounds",
        y_label="disagreements",
        series=[
            Series(name="the paper's sanitizer", xs=xs, ys=[row["unnoticed"] for row in rows]),
            Series(name="T^(1/3)", xs=xs, ys=third, style=":"),
            Series(name="a tree", xs=xs, ys=[row["unnoticed by a tree"] for row in rows]),
        ],
    )


CLAIM = Claim(
    name="construction-regret",
    says="With the paper's sanitizer, constructing the experts adds of order T^(1/3) to regret.",
    source="[P], Theorem 4.4 (thm:agnostic2) and Theorem E.10 (thm:experts)",
    setting=f"thresholds on {CONCEPTS.n} points, ε = {EPSILON:g}, {LEVELS} levels; bounds up to "
    f"2^{FULL[-1]} rounds, runs up to 2^{RUN_UP_TO[True]} (quick: 2^{QUICK[-1]} and "
    f"2^{RUN_UP_TO[False]})",
    judged=f"refuted if a run exceeds its bound (by chance: 1e-9) or the exponent at the end lies "
    f"outside {EXPONENTS[0]} … {EXPONENTS[1]}; no fit confirms it",
    measure=measure,
)
