"""Rows as values of Python: records, columns, runs, points."""

from collections.abc import Callable
from typing import Any, Final

from tests.rows.door import Rounds, Rows, column_of, learner_over, rounds_of
from tests.rows.tables import (
    KINDS,
    LABEL,
    SCHEMAS,
    Coins,
    Public,
    Table,
    table_of,
)

from littlestone import require
from littlestone.concepts.domain import AnyHashable, BooleanCube, Grid, IntegerRange, RationalBall
from littlestone.randomness import seeded


def of_records(public: Public, rows: Rows) -> list[str]:
    named = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    return rounds_of(public.schema.check_many(named), require.labels([row[LABEL] for row in rows]))


def of_columns(column: Callable[[str, list[Any]], Any]) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        found = {name: column(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
        labels = found.pop(LABEL)
        return rounds_of(public.schema.check_many(found), require.labels(labels))

    return rounds


class _Recorder:
    """In place of a run's engine: keeps the rounds, and says every few that the rule changed."""

    first_rounds = 4

    def __init__(self, hypothesis: Any) -> None:
        self.hypothesis, self.rounds = hypothesis, list[str]()

    def step(self, x: Any, y: int) -> None:
        self.rounds.append(repr((x, y)))

    def steps(self, xs: Any, ys: Any) -> int:
        self.rounds += rounds_of(xs[:7], ys[:7])
        return min(7, len(ys))


def of_a_run(public: Public, rows: Rows) -> list[str]:
    run = learner_over(public.schema).start(rng=seeded(1))
    recorder: Any = _Recorder(run.hypothesis)
    run._engine = recorder
    xs = [{name: row[name] for name in public.kinds if name != LABEL} for row in rows]
    ys, taken = column_of(rows, LABEL), 0
    while taken < len(xs):
        try:
            taken += run.observe_many(xs[taken:], ys[taken:])
        except ValueError:  # whoever feeds a run drops the row that it begins with and goes on
            recorder.rounds.append("refused")
            taken += 1
    found: list[str] = recorder.rounds
    return found


DOMAINS: Final = {
    "keys": AnyHashable(),
    "range": IntegerRange(16),
    "cube": BooleanCube(2),
    "grid": Grid(2, 16),
    "ball": RationalBall(2),
}
_PAIRS: Final = ("cube", "grid", "ball")


def points_drawn(coins: Coins) -> Table:
    domain = coins.one_of(tuple(DOMAINS))
    kinds = [kind for kind in KINDS if kind not in ("no cells", "missing")]
    usual = coins.one_of((*kinds, "small", "bits", "bits", "booleans"))

    def cell(odd: float) -> Any:
        return coins.one_of(KINDS[coins.one_of(tuple(KINDS)) if coins.uniform() < odd else usual])

    def row(public: Public, coins: Coins, *, odd: float) -> dict[str, Any]:
        del public
        pair = domain in _PAIRS or coins.uniform() < odd / 4
        x = (cell(odd), cell(odd)) if pair else cell(odd)
        label = coins.one_of(KINDS["missing" if coins.uniform() < odd / 4 else "bits"])
        return {"x": x, LABEL: label}

    return table_of(Public(SCHEMAS[0], {"x": domain, LABEL: usual}), coins, row)


def of_points(public: Public, rows: Rows) -> list[str]:
    domain: Any = DOMAINS[public.kinds["x"]]
    return rounds_of(
        domain.check_many(column_of(rows, "x")), require.labels(column_of(rows, LABEL))
    )
