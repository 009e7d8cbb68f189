"""Implement ``littlestone bounds``, which prints every bound, at one setting or along one axis."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from littlestone.choose.catalogue import class_from_spec
from littlestone.cli.options import AsJson, Delta, Epsilon
from littlestone.cli.output import Console, print_json
from littlestone.lab.bound import BoundValue, Numbers
from littlestone.lab.class_floors import ORDERS, mistakes_floor, oblivious_mistakes_floor
from littlestone.lab.every_bound import GROUPS, along, at_setting

COLUMNS = 4
"""How many numbers fit on a line; pictures show more."""


def run(
    groups: Annotated[
        list[str] | None, typer.Argument(help=f"Of {', '.join(GROUPS)}; all by default.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="The horizon T.")] = 10**6,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    failure_probability: Annotated[float, typer.Option(help="β.")] = 0.05,
    dimension: Annotated[int, typer.Option(help="Littlestone and VC dimension d.")] = 2,
    concepts: Annotated[int, typer.Option(help="Concepts of a finite class, or experts.")] = 1024,
    points: Annotated[int, typer.Option(help="Points of a finite domain.")] = 1024,
    samples: Annotated[int, typer.Option(help="The number of examples n.")] = 10**5,
    error: Annotated[float, typer.Option(help="The error α to reach.")] = 0.1,
    over: Annotated[
        str | None, typer.Option(help="Vary one of rounds, epsilon or dimension.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a picture; needs --over.")] = None,
    spec: Annotated[
        str | None, typer.Option("--class", help="Print the floors of this class; delta may be 0.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print each bound as a number, with its side, its formula and its source.

    Numbers beyond a billion are shown as powers of two. With --over, bounds that do not change are
    omitted. With --class, print the floors of that class by its structure: what no private learner
    can beat. The command reads no data and spends nothing.
    """
    if spec is not None:
        if over is not None or groups not in (None, ["floors"]):
            raise ValueError(
                "--class shows the floors of one class: give neither --over nor another group"
            )
        _show_class(spec, rounds, epsilon, delta, as_json=as_json)
        return
    setting = Numbers(
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        failure_probability=failure_probability,
        dimension=dimension,
        concepts=concepts,
        points=points,
        samples=samples,
        error=error,
    )
    if plot is not None and over is None:
        raise ValueError("--plot needs --over rounds, epsilon or dimension")
    settings = [setting] if over is None else along(setting, over)
    columns = [at_setting(each, groups or ()) for each in settings]
    values = [] if over is None else [getattr(each, over) for each in settings]
    if plot is not None and over is not None:
        from littlestone.cli.pictures import bounds_along

        bounds_along(values, columns, over, plot)
    if as_json:
        records = [[row.to_json() for row in rows] for rows in columns]
        found = {"over": over, "values": values, "bounds": records}
        print_json(records[0] if over is None else found)
        return
    console = Console()
    for group in dict.fromkeys(row.bound.group for row in columns[0]):
        mine = [[row for row in rows if row.bound.group == group] for rows in columns]
        console.print(_table(group, mine[0]) if over is None else _grid(group, over, values, mine))
    if plot is not None:
        console.print(f"picture: {plot}")


def _show_class(spec: str, rounds: int, epsilon: float, delta: float, *, as_json: bool) -> None:
    concepts = class_from_spec(spec)
    budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    found = [
        floor
        for floor in (
            mistakes_floor(concepts, **budget),  # type: ignore[arg-type]
            oblivious_mistakes_floor(concepts, **budget),  # type: ignore[arg-type]
        )
        if floor is not None
    ]
    if as_json:
        print_json([{**asdict(floor), "means": ORDERS[floor.order]} for floor in found])
        return
    title = (
        f"{spec}: no learner with ε = {epsilon:g}, δ = {delta:g} makes fewer mistakes on average"
    )
    table = Table(
        "at least", title=f"{title} in {rounds:,} rounds", title_justify="left", box=SIMPLE
    )
    for heading in ("order of a round", "theorem", "from"):
        table.add_column(heading)
    for floor in found:
        order = f"{floor.order}\n[dim]{ORDERS[floor.order]}[/]"
        table.add_row(floor.text, order, floor.theorem, floor.structure)
    Console().print(table if found else f"nothing is known about {spec}")


def _table(group: str, rows: list[BoundValue]) -> Table:
    table = Table("bound", "at", title=group, title_justify="left", box=SIMPLE)
    table.add_column("value", justify="right")
    table.add_column("from")
    for row in rows:
        why = "" if row.refusal is None else f" Not here: {row.refusal}."
        name = f"{row.bound.name}\n[dim]{escape(row.bound.words + why)}[/]"
        table.add_row(name, f"{row.bound.side}\n{row.bound.quantity}", row.text, row.bound.source)
    return table


def _grid(group: str, over: str, values: list[float], columns: list[list[BoundValue]]) -> Table:
    title = f"{group}, over {over}"
    table = Table("bound", title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    step = 1 if len(values) <= COLUMNS else 2
    for value in values[::step]:
        table.add_column(f"{value:g}", justify="right", no_wrap=True)
    for rows in zip(*columns[::step], strict=True):
        bound = rows[0].bound
        if len({row.value for row in rows}) == 1:
            continue  # it does not depend on the axis
        table.add_row(f"{bound.name} [dim]{bound.side}[/]", *(row.text for row in rows))
    return table
