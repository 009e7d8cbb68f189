"""The reader of rows in the two-world game: a file in which one row is replaced.

The auditor is a lower layer than the reader that it needs here; ``pyproject.toml`` allows this one
upward import.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final

from littlestone.audit.two_worlds import Audit, Conversation, Deterministic, Subject, World
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.randomness import Randomness
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.readers import Columns, read_blocks, singly

ROWS: Final = 4
"""The rows of the file, which are one batch: a rule is drawn after the last."""
COLUMNS: Final = Columns(label="label")
HEADER: Final = "n,label"

Reader = Callable[[Sequence[str]], Iterable[tuple[Any, int]]]
"""Converts the lines of a file below its header to events."""


@cache
def concepts() -> Stumps:
    """Return the class whose schema the rows follow."""
    return Stumps(Schema.from_mapping({"n": {"grid": [1, 2], "missing": "own value"}}), 1)


def as_learn_reads(lines: Sequence[str]) -> Iterable[tuple[Any, int]]:
    """Read every row as a round; a row that does not fit counts as its stand-in."""
    text = "\n".join([HEADER, *lines, ""]).encode()
    for item in singly(read_blocks("-", concepts(), COLUMNS, standard_input=BytesIO(text))):
        event = item.stand_in if isinstance(item, BadRow) else item
        yield event.x, event.y


def file_reader(epsilon: float, reader: Reader = as_learn_reads, *, name: str = "rows") -> Subject:
    """Make a subject that takes the lines of a file at once and answers with the published rule."""
    recipe = DisjointBatches(concepts=concepts(), epsilon=epsilon, first=ROWS)

    def start(rng: Randomness) -> tuple[None, Conversation]:
        run = recipe.start(rng=rng)

        def answer(lines: Sequence[str]) -> Any:
            for x, y in reader(lines):
                run.observe(x, y)
            return run.hypothesis

        return None, answer

    return Subject(name=name, claimed=recipe.guarantee(), open=start)


@dataclass(frozen=True, slots=True)
class OneRow(Deterministic):
    """Replace the first row of a file; notice on which numbers the rule is 1."""

    usual: str
    other: str
    rest: tuple[str, ...] = ("2,1",) * (ROWS - 1)

    def noticed(self, world: World) -> Hashable:
        rule = world.challenge([self.usual, *self.rest], [self.other, *self.rest])
        domain = concepts().domain
        return tuple(rule.many(domain.check_many([{"n": n} for n in (0, 1, 2)])).tolist())


AUDITS = (
    Audit(
        name="rows",
        subject=lambda epsilon, _: file_reader(epsilon),
        adversary=OneRow("2,1", '"2,0'),
        summary="the reader of CSV: a row that is whole, or begins a quote that never ends",
        exact_rounds=1,
        goal=0.5,
    ),
)
