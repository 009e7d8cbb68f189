"""Constructing the experts costs of order T^(1/3), beyond prediction [P, Theorem agnostic2]."""

from collections.abc import Sequence

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitized_experts.closeness import closest_expert, released_points
from littlestone.learners.sanitized_experts.families import (
    RealizableFamily,
    TreeFamily,
    error_class,
)
from littlestone.learners.sanitized_experts.plan import ConstructionPlan
from littlestone.online.sparse_majority.recipe import SparseMajority
from littlestone.randomness import Randomness
from littlestone.sanitizers.stream.interval_sanitizer import Family

CONCEPTS = Thresholds(3)
EPSILON, DELTA = 64.0, 1e-3
LEVELS = 4
"""Intervals of T, T/2, T/4 and T/8 rounds; further levels would change constants only."""
QUICK = (12, 15, 25, 28)
FULL = (12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
RUN_UP_TO = {False: 15, True: 18}
EXPONENTS = (0.27, 0.4)


def construction(family: Family, rounds: int) -> ConstructionPlan:
    shortest = rounds >> LEVELS - 1
    return ConstructionPlan.of(
        family, SparseMajority(CONCEPTS), rounds=rounds, shortest=shortest, switch_grid=shortest
    )


def tried(rounds: int) -> list[int]:
    """How many disagreements are tried; each is half as many again as the one before."""
    counts = [8]
    while counts[-1] * 3 // 2 < rounds:
        counts.append(counts[-1] * 3 // 2)
    return counts


def missed(plan: ConstructionPlan, rng: Randomness) -> int:
    """So many disagreements, evenly spread, really went unnoticed; the next larger number did not.

    The concept differs from what experts begin with on one point.
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
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The exponent between the largest horizons by the bound, and runs at the smallest."""
    errors, powers = error_class(SparseMajority(CONCEPTS)), FULL if full else QUICK
    played = [exponent for exponent in powers if exponent <= RUN_UP_TO[full]]
    allowed = FALSE_REFUTATION / sum(len(tried(1 << exponent)) for exponent in played)
    paper = RealizableFamily(
        concepts=errors,
        epsilon=EPSILON,
        delta=DELTA,
        failure_probability=allowed / (2 << LEVELS),  # there are fewer releases
    )
    tree = TreeFamily(concepts=errors, epsilon=EPSILON)

    def measured(exponent: int) -> Row:
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
    kept = all(row["missed in a run"] <= row["unnoticed"] for row in runs)
    fits = EXPONENTS[0] <= fitted <= EXPONENTS[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"what may go unnoticed grows like T^{fitted:.2f} at the end, what did in runs "
        f"like T^{_exponent(runs, 'missed in a run'):.2f}",
        rows=rows,
        pictures=[_picture(rows)],
    )


def _exponent(rows: Sequence[Row], key: str) -> float:
    return power(column(rows, "rounds"), column(rows, key, at_least=1))


def _picture(rows: Sequence[Row]) -> Picture:
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
