"""Implement ``littlestone sanitize``, which writes a private synthetic column."""

import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone import require
from littlestone.choose.catalogue import class_from_spec
from littlestone.cli.options import AsJson, ClassOption, Delta, Epsilon, Seed
from littlestone.cli.output import Console, print_json, round_bar
from littlestone.concepts.domain import AnyHashable, BooleanCube, IntegerRange
from littlestone.concepts.keys import key_to_json
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.sanitizers.choose import sanitizer_for
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.protocols import Sanitized, Sanitizer, refuse_small
from littlestone.randomness import secure, seeded
from littlestone.runs.intake.form import BadRow, Form
from littlestone.runs.intake.sources import header, rows

METHODS: Mapping[str, Callable[..., Sanitizer]] = {
    "auto": sanitizer_for,
    "generic": FoolingSanitizer.planned,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The examples of a file: one column, or two with labels."""

    column: str
    label: str | None
    examples: Sequence[Any]


def run(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file.")],
    concepts: ClassOption,
    out: Annotated[Path, typer.Option(help="Write the synthetic column here.")],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    column: Annotated[str | None, typer.Option(help="The column with the points.")] = None,
    label: Annotated[str | None, typer.Option(help="The column with the labels, if any.")] = None,
    error: Annotated[
        float, typer.Option(help="The largest acceptable error; reject if more is expected.")
    ] = 0.1,
    failure_probability: Annotated[
        float, typer.Option(help="The probability of a larger error.")
    ] = 0.05,
    size: Annotated[int | None, typer.Option(help="How many synthetic rows.")] = None,
    method: Annotated[str, typer.Option(help="auto or generic.")] = "auto",
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Print the expected error, reject if it is too large, then release."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got method={method!r}")
    known = class_from_spec(concepts)
    require.open_probability(failure_probability=failure_probability)
    table = read_table(path, known, column=column, label=label)
    recipe = METHODS[method](
        concepts=known,
        size=len(table.examples),
        epsilon=epsilon,
        delta=delta,
        labelled=label is not None,
        failure_probability=failure_probability,
    )
    bound = recipe.error_bound(size=len(table.examples), failure_probability=failure_probability)
    if not as_json:
        _announce(recipe, table, bound, failure_probability)
    refuse_small(
        recipe, size=len(table.examples), error=error, failure_probability=failure_probability
    )
    rounds = recipe.discriminator.rounds if isinstance(recipe, FoolingSanitizer) else 1
    with round_bar(rounds, "sanitizing", quiet=as_json) as progress:
        rng = secure() if seed is None else seeded(seed)
        released = recipe.release(table.examples, rng=rng, progress=progress)
    wanted = len(table.examples) if size is None else size
    write(out, released, table, size=wanted)
    if as_json:
        print_json(_record(recipe, table, bound, out, wanted, released))
    else:
        console = Console()
        console.print(f"{out}: {wanted} synthetic examples", highlight=False)
        console.print(released.ledger.explain(), highlight=False)


def read_table(
    path: Path, concepts: ConceptClass, *, column: str | None, label: str | None
) -> Table:
    """Read the examples of a CSV file with a header; reject a bad line by its number."""
    names = header(str(path), Form())
    chosen = names[0] if column is None and names else str(column)
    parse, examples = _parser(concepts), []
    needed = [chosen] if label is None else [chosen, label]
    for name in needed:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}; there are: {', '.join(names)}")
    for line, row in rows(str(path), needed, Form(), sys.stdin.buffer):
        try:
            if isinstance(row, BadRow):
                raise ValueError(str(row))
            x = concepts.domain.check(parse(row[0]))
            examples.append(x if label is None else (x, require.label(int(row[1]))))
        except (ValueError, TypeError) as problem:
            raise ValueError(f"{path}, line {line}: {problem}") from None
    if not examples:
        raise ValueError(f"{path} must have rows below its header, got none")
    return Table(column=chosen, label=label, examples=examples)


def write(path: Path, released: Sanitized, table: Table, *, size: int) -> None:
    """Write a CSV file of synthetic examples, or a JSON file with the distribution."""
    if path.suffix == ".json":
        shares = released.distribution()
        cells = [{"example": key_to_json(cell), "share": share} for cell, share in shares.items()]
        path.write_text(json.dumps({"distribution": cells}, indent=1) + "\n", encoding="utf-8")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [table.column] if table.label is None else [table.column, table.label]
        writer.writerow(names)
        for example in released.dataset(size):
            x, *y = example if table.label is not None else (example,)
            writer.writerow(["".join(map(str, x)) if isinstance(x, tuple) else x, *y])


def _parser(concepts: ConceptClass) -> Callable[[str], Any]:
    domain = concepts.domain
    if isinstance(domain, IntegerRange):
        return int
    if isinstance(domain, BooleanCube):
        return lambda text: tuple(int(bit) for bit in text)
    if isinstance(domain, AnyHashable):
        return str
    raise ValueError(
        f"points of {concepts!r} cannot be read from one column; choose a class of "
        f"numbers, bits or keys, as in thresholds:100 or points"
    )


def _announce(recipe: Sanitizer, table: Table, bound: float, failure_probability: float) -> None:
    errors = "of its errors" if table.label is not None else "that it maps to 1"
    Console(stderr=True).print(
        f"{type(recipe).__name__}, {recipe.guarantee()}: with {len(table.examples)} examples, the "
        f"estimated share {errors} is off by at most {bound:.4g} for every concept at once, with "
        f"probability {1 - failure_probability:g}. Nothing is spent yet.",
        highlight=False,
    )


def _record(
    recipe: Sanitizer, table: Table, bound: float, out: Path, size: int, released: Sanitized
) -> Mapping[str, object]:
    guarantee = recipe.guarantee()
    return {
        "sanitizer": type(recipe).__name__,
        "examples": len(table.examples),
        "synthetic": size,
        "out": str(out),
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "error_bound": bound,
        "private": released.ledger.private,
    }
