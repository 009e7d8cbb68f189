"""Implement ``littlestone optimum``, which computes the best private learner of a tiny game."""

from typing import Annotated, Any

import numpy as np
import typer

from littlestone.choose.catalogue import class_from_spec
from littlestone.cli.options import AsJson, ClassSpec, Delta, Epsilon
from littlestone.cli.output import Console, print_json, print_table
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import ConceptClass
from littlestone.lab.tiny_games import Floor, LearnerValue, floors_of, learner_values
from littlestone.theory.optimum.mistakes import LearnerRow, Optimum, optimal_mistakes

SHOWN_ROWS = 40
LEAST_SHOWN = 1e-6


def run(
    spec: ClassSpec,
    rounds: Annotated[int, typer.Option(help="The horizon T.")] = 3,
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    silence: Annotated[
        bool, typer.Option("--silence", help="Add a point at which all concepts agree.")
    ] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Print the best learner, history by history.")
    ] = False,
    learners: Annotated[
        bool, typer.Option(help="Also enumerate the coins of the catalogue's learners.")
    ] = True,
    learner: Annotated[
        list[str] | None,
        typer.Option(help="A learner of the catalogue; all private ones by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve games of at most 8 concepts and a few rounds: no private learner errs less often.

    In each round the learner publishes a hypothesis, and the adversary sees it before it answers.
    The value lies between two rational numbers: a private learner attains the upper one, and no
    private learner is below the lower one. Beside it are the floors that are proved for all
    horizons, and what the learners of the catalogue lose against their best adversaries.

    Games of two points may have 4 rounds, of three points 3, of seven points 2; a larger game is
    refused at once. ``--table`` prints the law of the best learner after each history: "01 (0,1)"
    is a round in which 0 was published at the first point and 1 at the second, and the answer was
    that the first point has label 1.
    """
    concepts = with_silence(class_from_spec(spec)) if silence else class_from_spec(spec)
    found = optimal_mistakes(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
    game: dict[str, Any] = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    floors = floors_of(concepts, **game)
    values = list(learner_values(concepts, names=learner or (), **game)) if learners else []
    if as_json:
        record = {"class": spec, "silence": silence, **game, **to_json(found)}
        record["floors"] = {floor.name: floor.mistakes for floor in floors}
        record["learners"] = {value.name: _ends(value) for value in values}
        if table:
            record["table"] = [_row_json(row) for row in found.table()]
        print_json(record)
        return
    _print(spec, found, floors, values)
    if table:
        _print_learner(found)


def to_json(found: Optimum) -> dict[str, Any]:
    """Return the two ends, as fractions and as floats."""
    return {
        "low": float(found.low),
        "high": float(found.high),
        "exactly": [str(found.low), str(found.high)],
        "histories": len(found.tree.published),
        "variables": found.variables,
    }


def with_silence(concepts: ConceptClass) -> FiniteClass:
    """Return the class with one more point, at which all concepts agree."""
    matrix = FiniteClass.from_class(concepts).matrix
    return FiniteClass(np.hstack([matrix, np.zeros((len(matrix), 1), dtype=np.uint8)]))


def _print(spec: str, found: Optimum, floors: list[Floor], values: list[LearnerValue]) -> None:
    best = floors[0].mistakes if floors else 0.0
    rows = [("the best private learner", f"{found.value:.6f}", "")]
    rows += [
        (floor.name, f"{floor.mistakes:.6f}", "at least, for every learner") for floor in floors
    ]
    for value in values:
        if value.high is not None:
            more = float(value.high) / float(found.low) if found.low else 1.0
            rows.append((value.name, f"{float(value.high):.6f}", f"{more:.2f} times the best"))
    print_table(("learner or floor", "mistakes", ""), rows, title=_title(spec, found))
    say = Console(highlight=False).print
    say(f"value between {float(found.low):.12f} and {float(found.high):.12f}, certified")
    say(f"{len(found.tree.published):,} histories up to symmetry, {found.variables:,} variables")
    if found.low:
        say(f"the largest floor is {best / float(found.low):.2f} of it")
    reasons: dict[str, list[str]] = {}
    for value in values:
        if value.refusal is not None:
            reasons.setdefault(value.refusal, []).append(value.name)
    for reason, names in reasons.items():
        say(f"not known of {', '.join(names)}: {reason}", markup=False)


def _title(spec: str, found: Optimum) -> str:
    return f"{spec}: T = {found.rounds}, ε = {found.epsilon:g}, δ = {found.delta:g}"


def _print_learner(found: Optimum) -> None:
    likely = (row for row in found.table() if row.probability >= LEAST_SHOWN)
    rows = sorted(likely, key=lambda row: (len(row.history), -row.probability))
    shown = [(_in_words(row), f"{row.probability:.4f}", _law(row)) for row in rows[:SHOWN_ROWS]]
    title = f"the best learner, {len(shown)} of {len(rows)} histories; --json prints all"
    print_table(("history", "probability", "publishes"), shown, title=title)


def _in_words(row: LearnerRow) -> str:
    return " ".join(
        f"{_word(labels)} {'–' if point is None else f'({point},{label})'}"
        for labels, point, label in row.history
    )


def _law(row: LearnerRow) -> str:
    likely = sorted(row.law.items(), key=lambda item: -item[1])
    return ", ".join(f"{_word(labels)}: {p:.4f}" for labels, p in likely if p >= 5e-5)


def _word(labels: tuple[int, ...]) -> str:
    return "".join(map(str, labels))


def _row_json(row: LearnerRow) -> dict[str, Any]:
    return {
        "history": [list(each) for each in row.history],
        "probability": row.probability,
        "law": {_word(labels): p for labels, p in row.law.items()},
    }


def _ends(value: LearnerValue) -> Any:
    if value.low is None or value.high is None:
        return {"refusal": value.refusal}
    return {"low": float(value.low), "high": float(value.high)}
