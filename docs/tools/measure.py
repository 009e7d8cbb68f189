"""Measure every number that the pages quote, and write it where it is quoted.

    python -m docs.tools.measure                  everything, some minutes
    python -m docs.tools.measure realizable       one part
    python -m docs.tools.measure --render         the tables and the picture again, nothing measured

What was measured is stored in docs/measured.json. Tables and single numbers stand between two
comments in a page; a test compares them with the file.
"""

import argparse
import itertools
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

from docs.tools import beside_floors, in_theory, practice
from docs.tools.written import (
    DOCS,
    markdown_table,
    nearest,
    pages,
    power,
    up,
    with_numbers,
    with_tables,
)

from littlestone.choose.catalogue import class_from_spec
from littlestone.choose.recommendation import recommend
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.lab.class_floors import mistakes_floor
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.randomness import seeded
from littlestone.theory.adaptive_floors import burst_and_wait_lower_bound

MEASURED = DOCS / "measured.json"
PICTURE = DOCS / "images" / "choosing-epsilon.svg"
DELTA = 1e-6
FAILURE = 0.05
RUNS = 5

LEARNERS: dict[str, Callable[..., Any]] = {
    "PrivateMajority": PrivateMajority,
    "PrivateWitnesses": PrivateWitnesses,
    "PrivateKeys": PrivateKeys,
    "LazyForest": LazyForest.calibrated,
}
REALIZABLE = (
    ("PrivateMajority", "points:1024", 10**6),
    ("PrivateMajority", "thresholds:1024", 10**6),
    ("PrivateMajority", "thresholds:1048575", 10**6),
    ("PrivateMajority", "sparse-sets:3,1024", 10**6),
    ("PrivateMajority", "intervals:64", 10**6),
    ("PrivateMajority", "conjunctions:8", 10**5),
    ("PrivateWitnesses", "thresholds:1024", 10**6),
    ("PrivateWitnesses", "thresholds:1048575", 10**6),
    ("PrivateWitnesses", "conjunctions:8", 10**6),
    ("PrivateWitnesses", "intervals:64", 10**6),
    ("PrivateWitnesses", "intervals:1048576", 10**6),
    ("PrivateKeys", "points", 10**7),
    ("PrivateKeys", "sparse-sets:3", 10**6),
    ("LazyForest", "points", 10**7),
    ("LazyForest", "thresholds:6", 10**7),
    ("LazyForest", "thresholds:8", 10**7),
    ("LazyForest", "thresholds:16", 10**7),
)
AGNOSTIC: tuple[tuple[Literal["adaptive", "oblivious"], int, bool], ...]
"""Adversary, rounds, and whether a rule is kept instead of drawn from noisy losses."""
AGNOSTIC = (
    ("adaptive", 10**5, False),
    ("oblivious", 10**5, False),
    ("oblivious", 10**5, True),
    ("oblivious", 10**6, False),
    ("oblivious", 10**6, True),
)
NOISE_RATE = 0.1
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
CURVES = ("points", "thresholds:6", "sparse-sets:3,1024", "thresholds:1024")
CURVE_ROUNDS = 10**6


def realizable() -> list[dict[str, Any]]:
    """Mistakes of private learners against the adversary that forces them."""
    rows = []
    for name, spec, rounds in REALIZABLE:
        concepts = class_from_spec(spec)
        learner = LEARNERS[name](concepts=concepts, rounds=rounds, epsilon=1.0, delta=DELTA)
        rows.append(_game(name, learner, spec, rounds, 1.0))
    return rows


def choosing_epsilon() -> list[dict[str, Any]]:
    """What ``recommend`` chooses for several ε, for the picture."""
    rows = []
    for spec, epsilon in itertools.product(CURVES, EPSILONS):
        asked: Any = {"setting": "realizable", "adversary": "adaptive", "delta": DELTA}
        advice = recommend(spec, rounds=CURVE_ROUNDS, epsilon=epsilon, **asked)
        assert advice.best is not None
        rows.append(_game(advice.best.name, advice.best.recipe, spec, CURVE_ROUNDS, epsilon))
    return rows


def agnostic() -> list[dict[str, Any]]:
    """Regret on a stream whose labels are wrong with probability 0.1."""
    concepts = class_from_spec("thresholds:99")
    rows = []
    for adversary, rounds, kept in AGNOSTIC:
        board = ShrinkingDartboard(experts=100, rounds=rounds, epsilon=1.0, delta=DELTA)
        learner = AgnosticFinite(
            concepts=concepts,
            rounds=rounds,
            epsilon=1.0,
            delta=DELTA,
            adversary=adversary,
            experts=board if kept else None,
        )
        stream = RandomStream(concepts, noise_rate=NOISE_RATE)
        games = [play(learner, stream, rounds=rounds, rng=seeded(number)) for number in range(RUNS)]
        rows.append(
            {
                "learner": f'AgnosticFinite, "{adversary}"' + ", dartboard" * kept,
                "class": "thresholds:99",
                "rounds": rounds,
                "regret": [game.regret for game in games],
                "bound": learner.expected_regret_bound(),
                "switches": [game.switches for game in games],
            }
        )
        _say(rows[-1])
    return rows


def _game(name: str, learner: Any, spec: str, rounds: int, epsilon: float) -> dict[str, Any]:
    concepts = learner.concepts
    adversary = MistakeForcing(concepts)
    mistakes = [
        play(learner, adversary, rounds=rounds, rng=seeded(number)).mistakes
        for number in range(RUNS)
    ]
    bound = learner.mistake_bound(failure_probability=FAILURE)
    row = {
        "learner": name,
        "class": spec,
        "dimension": concepts.littlestone_dimension,
        "rounds": rounds,
        "epsilon": epsilon,
        "guarantee": str(learner.guarantee()),
        "mistakes": mistakes,
        "bound": bound if bound < rounds else None,
    }
    _say(row)
    return row


PARTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "realizable": realizable,
    "agnostic": agnostic,
    "choosing-epsilon": choosing_epsilon,
    "floors": beside_floors.defaults,
    "majority": beside_floors.majorities,
    "witnesses": beside_floors.proved_means,
}


def tables(measured: dict[str, Any]) -> dict[str, str]:
    """Each table by the name of its place in a page."""
    return {
        "realizable": markdown_table(
            ("learner", "class", "d", "rounds", "mistakes", "bound"),
            [
                (
                    row["learner"],
                    f"`{row['class']}`",
                    str(row["dimension"]),
                    power(row["rounds"]),
                    _spread(row["mistakes"]),
                    "none below T" if row["bound"] is None else up(row["bound"]),
                )
                for row in measured["realizable"]
            ],
        ),
        "agnostic": markdown_table(
            ("learner", "rounds", "regret", "bound on its mean", "changes of the rule"),
            [
                (
                    f"`{row['learner']}`",
                    power(row["rounds"]),
                    _spread(row["regret"]),
                    up(row["bound"]),
                    _spread(row["switches"]),
                )
                for row in measured["agnostic"]
            ],
        ),
        "choosing-epsilon": markdown_table(
            ("class", "recommended", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)),
            [
                (
                    f"`{spec}`",
                    _names(rows),
                    *(f"{nearest(_mean(row['mistakes']))} ({up(row['bound'])})" for row in rows),
                )
                for spec, rows in _curves(measured).items()
            ],
        ),
        **beside_floors.tables(measured),
        **in_theory.tables(),
    }


FLOORS = ("points", "sparse-sets:3", "thresholds:1024", "intervals:64", "conjunctions:8")


def numbers(measured: dict[str, Any]) -> dict[str, str]:
    """Each number that a sentence may quote, by its name: mean mistakes, floors, real streams."""
    found = {
        f"{row['learner']} {row['class']}": nearest(_mean(row["mistakes"]))
        for row in measured["realizable"]
    }
    for row in measured["choosing-epsilon"]:
        name = f"{row['class']} at {row['epsilon']:g}"
        found[name] = nearest(_mean(row["mistakes"]))
    for spec in FLOORS:
        delta = DELTA if spec in ("points", "sparse-sets:3") else 0.0
        setting: Any = {"rounds": CURVE_ROUNDS, "epsilon": 1.0, "delta": delta}
        floor = mistakes_floor(class_from_spec(spec), **setting)
        found[f"floor of {spec}"] = str(math.floor(floor.mistakes)) if floor else "–"
    kept = json.loads(practice.KEPT.read_text("utf-8"))
    return found | beside_floors.numbers(measured) | practice.numbers(kept)


def draw(measured: dict[str, Any]) -> None:
    """Mistakes against ε: measured as points, proved as dashed lines, the floor as dots."""
    import matplotlib  # noqa: PLC0415  # only for the picture
    from matplotlib.figure import Figure  # noqa: PLC0415

    matplotlib.rcParams["svg.hashsalt"] = "littlestone"
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, (spec, rows) in enumerate(_curves(measured).items()):
        colour = f"C{number}"
        means = [_mean(row["mistakes"]) for row in rows]
        axes.plot(EPSILONS, means, "o-", color=colour, label=f"{spec}: {_names(rows)}")
        bounds = [math.nan if row["bound"] is None else row["bound"] for row in rows]
        axes.plot(EPSILONS, bounds, "--", color=colour, linewidth=1)
    floors = [
        burst_and_wait_lower_bound(rounds=CURVE_ROUNDS, epsilon=epsilon, delta=DELTA)
        for epsilon in EPSILONS
    ]
    axes.plot(EPSILONS, floors, "k:", label="floor for points")
    axes.plot([], [], "--", color="grey", label="proved bound (failure 0.05)")
    axes.set(
        title="Mistakes in 10⁶ rounds against the adversary that forces them (δ = 10⁻⁶)",
        xlabel="ε",
        ylabel="mistakes, mean of 5 runs",
        xscale="log",
        yscale="log",
    )
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


def _curves(measured: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    rows = measured["choosing-epsilon"]
    return {spec: [row for row in rows if row["class"] == spec] for spec in CURVES}


def _names(rows: Sequence[dict[str, Any]]) -> str:
    return ", ".join(sorted({row["learner"] for row in rows}))


def _spread(values: Sequence[int]) -> str:
    return f"{nearest(_mean(values))} ({min(values):,}–{max(values):,})"


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _say(row: dict[str, Any]) -> None:
    sys.stderr.write(f"{row}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    measured = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    for name in () if asked.render else asked.parts or PARTS:
        measured[name] = PARTS[name]()
        MEASURED.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    for path in pages():
        text = with_tables(path.read_text("utf-8"), tables(measured))
        path.write_text(with_numbers(text, numbers(measured)), "utf-8")
    draw(measured)


if __name__ == "__main__":
    main()
