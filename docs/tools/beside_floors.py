"""Measure learners against adversaries that answer what is published, beside the floors.

The parts ``floors``, ``majority`` and ``witnesses`` of docs/measured.json, and the tables and
numbers of the pages of theory and of the blocklist.
"""

import statistics
from collections.abc import Sequence
from itertools import product
from typing import Any

from benchmarks._opponents import opponents
from docs.tools.written import down, markdown_table, power, up, with_error

from littlestone.choose.auto import auto
from littlestone.choose.catalogue import class_from_spec
from littlestone.game.play import play
from littlestone.lab.class_floors import mistakes_floor
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.randomness import seeded
from littlestone.theory.adaptive_floors import burst_and_wait_lower_bound, burst_lower_bound

ROUNDS = 10**6
DELTA = 1e-6
FAILURE = 0.05
BESIDE_FLOORS = (
    ("points", DELTA, "2′", 100),
    ("points:1024", 0.0, "A", 100),
    ("sparse-sets:3", DELTA, "3 × 2′", 100),
    ("sparse-sets:3,1024", 0.0, "3 × A", 100),
    ("thresholds:1024", 0.0, "B, 10 levels", 100),
    ("thresholds:1048575", 0.0, "B, 1 + 19 levels", 100),
    ("intervals:64", 0.0, "B, 5 + 5 levels", 100),
    ("intervals:1048576", 0.0, "B, 19 + 19 levels", 100),
    ("conjunctions:8", 0.0, "B, 1 + 8 levels", 20),
)
"""Class, δ, the theorem of its floor, and games against each adversary."""
MAJORITIES = ("thresholds:1023", "thresholds:1048575", "points:1024", "sparse-sets:3,1024")
WITNESSES = (
    "thresholds:1023",
    "intervals:64",
    "intervals:1048576",
    *(f"boxes:{k},{n}" for k in (2, 3, 4) for n in (64, 1048576)),
    "conjunctions:8",
    "conjunctions:64",
    "disjunctions:3,16",
    "points:1024",
    "sparse-sets:3,1024",
)
"""The classes of the table of witness systems."""
KEY_SETTINGS = (
    (1.0, 1e-6, 10**4),
    (1.0, 1e-6, 10**6),
    (1.0, 1e-9, 10**6),
    (2.0, 1e-6, 10**6),
    (0.5, 1e-6, 10**6),
    (0.1, 1e-6, 10**6),
)
"""ε, δ and rounds of the constants of ``PrivateKeys``."""


def defaults() -> list[dict[str, Any]]:
    """Mistakes of the default learners against adversaries that answer what is published."""
    rows = []
    for spec, delta, _, games in BESIDE_FLOORS:
        asked: Any = {"rounds": ROUNDS, "epsilon": 1.0, "delta": delta}
        concepts = class_from_spec(spec)
        learner = auto(concepts, setting="realizable", adversary="adaptive", **asked)
        rows.append(_answered(learner, spec, delta, games))
    return rows


def majorities() -> list[dict[str, Any]]:
    """The same for ``PrivateMajority``, without δ."""
    return [
        _answered(
            PrivateMajority(concepts=class_from_spec(spec), rounds=ROUNDS, epsilon=1.0),
            spec,
            0.0,
            100,
        )
        for spec in MAJORITIES
    ]


def proved_means() -> list[dict[str, Any]]:
    """The proved mean of ``PrivateWitnesses`` for each class with a witness system."""
    return [{"class": spec, "proved": _proved_mean(spec)} for spec in WITNESSES]


def _proved_mean(spec: str) -> float:
    concepts = class_from_spec(spec)
    return PrivateWitnesses(concepts=concepts, rounds=ROUNDS, epsilon=1.0).expected_mistake_bound()


def _answered(learner: Any, spec: str, delta: float, games: int) -> dict[str, Any]:
    """Mean mistakes and standard error of each adversary, which knows what is published."""
    concepts, measured = class_from_spec(spec), {}
    asked: Any = {"rounds": ROUNDS, "epsilon": 1.0, "delta": delta}
    floor = mistakes_floor(concepts, **asked)
    assert floor is not None
    for foe, _ in opponents(concepts, **asked):
        counts = [
            play(learner, foe, rounds=ROUNDS, rng=seeded(number), peek=True).mistakes
            for number in range(games)
        ]
        error = statistics.stdev(counts) / games**0.5
        measured[type(foe).__name__] = [statistics.mean(counts), error]
    return {
        "learner": type(learner).__name__,
        "class": spec,
        "delta": delta,
        "games": games,
        "dimension": concepts.littlestone_dimension,
        "floor": floor.mistakes,
        "proved": learner.expected_mistake_bound(),
        "bound": learner.mistake_bound(failure_probability=FAILURE),
        "measured": measured,
    }


def tables(measured: dict[str, Any]) -> dict[str, str]:
    """Each table by the name of its place in a page."""
    return {
        "floors": _floor_table(measured["floors"]),
        "majority": _majority_table(measured["majority"]),
        "keys": _keys_table(),
        "points": _points_table(),
    }


def numbers(measured: dict[str, Any]) -> dict[str, str]:
    """Each number that a sentence may quote, by its name."""
    found = {}
    for row in measured["floors"]:
        spec = row["class"]
        found[f"greedy {spec}"] = with_error(row["measured"]["MistakeForcing"])
        found[f"worst {spec}"] = with_error(_worst(row))
        found[f"worst {spec} / floor"] = f"{_worst(row)[0] / row['floor']:.2f}"
        found[f"proved {spec}"] = up(row["proved"], 1)
        found[f"proved {spec} / floor"] = f"{row['proved'] / row['floor']:.2f}"
    for row in measured["witnesses"]:
        found[f"mean of {row['class']}"] = up(row["proved"])
    for spec, epsilon in product(("thresholds:1024", "points:1024"), (0.1, 0.5, 2.0)):
        floor = mistakes_floor(class_from_spec(spec), rounds=ROUNDS, epsilon=epsilon, delta=0.0)
        assert floor is not None
        found[f"floor of {spec} at {epsilon:g}"] = down(floor.mistakes, 1)
    return found | _of_keys()


def _of_keys() -> dict[str, str]:
    """What ``PrivateKeys`` needs at ε = 1, δ = 10⁻⁶ and 10⁶ rounds."""
    keys = PrivateKeys(rounds=ROUNDS, epsilon=1.0, delta=DELTA)
    likely = {n: keys.mistake_bound_for(n, failure_probability=FAILURE) for n in (1, 100, 1000)}
    means = {n: keys.expected_mistakes_for(n) for n in (1, 100)}
    return {
        "reports of a key": str(keys.reports),
        "complaints of a key": str(keys.complaints),
        **{f"95 % of {n} keys": up(bound) for n, bound in likely.items()},
        **{f"mean of {n} keys": up(mean, 1 if n == 1 else 0) for n, mean in means.items()},
    }


def _floor_table(rows: Sequence[dict[str, Any]]) -> str:
    used = {spec: theorem for spec, _, theorem, _ in BESIDE_FLOORS}
    head = ("class", "δ", "used", "floor", "learner", "proved mean", "measured, greedy")
    return markdown_table(
        (*head, "measured, worst", "proved / floor", "worst / floor"),
        [
            (
                f"`{row['class']}`",
                power(row["delta"]) if row["delta"] else "0",
                used[row["class"]],
                down(row["floor"], 1),
                f"`{row['learner']}`",
                up(row["proved"], 1),
                with_error(row["measured"]["MistakeForcing"]),
                with_error(_worst(row)),
                f"{row['proved'] / row['floor']:.2f}",
                f"{_worst(row)[0] / row['floor']:.2f}",
            )
            for row in rows
        ],
    )


def _majority_table(rows: Sequence[dict[str, Any]]) -> str:
    head = ("class", "d", "floor", "proved mean", "proved, 95 %", "measured")
    return markdown_table(
        (*head, "`PrivateWitnesses`, proved mean"),
        [
            (
                f"`{row['class']}`",
                str(row["dimension"]),
                down(row["floor"], 1),
                up(row["proved"], 1),
                up(row["bound"]),
                with_error(_worst(row)),
                up(_proved_mean(row["class"]), 1),
            )
            for row in rows
        ],
    )


def _keys_table() -> str:
    rows = []
    for epsilon, delta, rounds in KEY_SETTINGS:
        setting: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
        keys = PrivateKeys(**setting)
        thresholds = str(keys.reports), str(keys.complaints)
        proved = up(keys.expected_mistakes_for(1), 1)
        floor = down(burst_and_wait_lower_bound(**setting), 1)
        named = f"{epsilon:g}", power(delta), power(rounds)
        rows.append((*named, *thresholds, proved, floor))
    head = ("ε", "δ", "T", "τ (reports)", "τ′ (complaints)", "proved mean for each key")
    return markdown_table((*head, "floor for each key"), rows)


def _points_table() -> str:
    rows = []
    for epsilon, delta, rounds in KEY_SETTINGS:
        setting: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
        floors = burst_lower_bound(**setting), burst_and_wait_lower_bound(**setting)
        named = f"{epsilon:g}", power(delta), power(rounds)
        rows.append((*named, *(down(floor, 1) for floor in floors)))
    return markdown_table(("points, ε", "δ", "T", "Theorem 1", "Theorem 2′"), rows)


def _worst(row: dict[str, Any]) -> list[float]:
    """The largest mean of all adversaries, with its standard error."""
    worst: list[float] = max(row["measured"].values())
    return worst
