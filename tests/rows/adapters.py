"""Rows on their way through scikit-learn, River and HTTP."""

import json
from collections import UserList, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from unittest.mock import patch

import pandas as pd
from tests.rows.door import Rounds, Rows, column_of, learner_over, objects, rounds_of
from tests.rows.files import json_of
from tests.rows.tables import (
    LABEL,
    Coins,
    Public,
    Table,
)
from tests.rows.typed import NUMPY, array_of, series_of, typed_tables

from littlestone.adapters import sklearn as adapter
from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier
from littlestone.concepts.schema import LabelledSchema, Schema
from littlestone.http import wire
from littlestone.http.client import Client
from littlestone.http.routes import sent_in
from littlestone.http.run_thread import Refused, event_reader


@contextmanager
def _learned() -> Iterator[list[str]]:
    """What an estimator hands to its run."""
    kept = list[str]()

    def learn(run: Any, points: Any, numbers: Any, *_: Any) -> None:
        del run
        kept.extend(rounds_of(points, numbers))

    with patch.object(adapter, "_learn", learn):
        yield kept


def of_estimators(table: Callable[[Public, Rows], tuple[Any, Any]]) -> Rounds:
    def rounds(public: Public, rows: Rows) -> list[str]:
        X, y = table(public, rows)  # noqa: N806
        with _learned() as kept:
            SklearnClassifier(learner_over(public.schema), random_state=1).fit(X, y)
        return kept

    return rounds


def as_lists(public: Public, rows: Rows) -> tuple[Any, Any]:
    names = [name for name in public.kinds if name != LABEL]
    return [[row[name] for name in names] for row in rows], column_of(rows, LABEL)


def as_rows_of_all_kinds(public: Public, rows: Rows) -> tuple[Any, Any]:
    """Each row in a container of its own, which is part of the row."""
    X, y = as_lists(public, rows)  # noqa: N806
    holders = (list, tuple, objects, deque, Indexed, lambda cells: dict(enumerate(cells)).values())
    return [holders[len(repr(row)) % len(holders)](row) for row in X], y


class Indexed:
    """Values that can be counted and looked up, which is all that numpy asks for."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> Any:
        return self._values[place]


def as_other_sequences(public: Public, rows: Rows) -> tuple[Any, Any]:
    """Tables and labels in containers that are no lists; which ones is public."""
    X, y = as_lists(public, rows)  # noqa: N806
    holders = (deque, UserList, Indexed, lambda values: dict(enumerate(values)).values())
    holder = holders[len(public.kinds) % len(holders)]
    return holder(X), holder(y)


def as_frame(public: Public, rows: Rows) -> tuple[Any, Any]:
    found = {name: series_of(kind, column_of(rows, name)) for name, kind in public.kinds.items()}
    labels = found.pop(LABEL)
    return pd.DataFrame(found), labels


def as_array(public: Public, rows: Rows) -> tuple[Any, Any]:
    """An array has one type for all of its columns: that of the first."""
    names = [name for name in public.kinds if name != LABEL]
    kind = public.kinds[names[0]]
    cells = array_of(kind, [row[name] for row in rows for name in names])
    return cells.reshape(len(rows), len(names)), array_of(
        public.kinds[LABEL], column_of(rows, LABEL)
    )


def of_one_type(coins: Coins) -> Table:
    """Without dates: an estimator's columns are its fields."""
    table = without_dates(typed_tables(NUMPY))(coins)
    names = [name for name in table.public.kinds if name != LABEL]
    kind = table.public.kinds[names[0]]
    pool = NUMPY[kind]

    def same(row: dict[str, Any]) -> dict[str, Any]:
        return {name: coins.one_of(pool) if name in names else row[name] for name in row}

    kinds = dict.fromkeys(names, kind) | {LABEL: table.public.kinds[LABEL]}
    public = Public(table.public.schema, kinds)
    return Table(public, list(map(same, table.rows)), table.place, same(table.other))


def without_dates(draw: Callable[[Coins], Table]) -> Callable[[Coins], Table]:
    def drawn_without(coins: Coins) -> Table:
        while True:
            table = draw(coins)
            if all(part.date is None for part in table.public.schema.fields):
                return table

    return drawn_without


@cache
def _river_model(schema: Schema) -> PrivateClassifier:
    declared = schema.labels if isinstance(schema, LabelledSchema) else (0, 1)
    return PrivateClassifier(learner_over(schema), labels=declared)


def of_river(public: Public, rows: Rows) -> list[str]:
    model, found = _river_model(public.schema), list[str]()
    for row in rows:
        record = {name: row[name] for name in public.kinds if name != LABEL}
        with patch.object(model, "_run", _Told(found)):
            try:
                model.learn_one(record, row[LABEL])
            except ValueError:
                found.append("refused")
    return found


class _Told:
    """In place of a run: keeps what it is told."""

    def __init__(self, kept: list[str]) -> None:
        self._kept = kept

    rounds_played = 1
    hypothesis = None

    def take(self, x: Any, y: int) -> None:
        self._kept.append(repr((x, y)))


class _Sent(Client):
    """A client that keeps the body of its request."""

    body = b""

    def _once(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        self.body = content or b""
        return 200, b"{}"


@cache
def _reader(schema: Schema) -> Any:
    return event_reader(learner_over(schema))


def of_a_client(public: Public, rows: Rows) -> list[str]:
    client = _Sent("http://localhost")
    names = [name for name in public.kinds if name != LABEL]
    client.send_many(
        "run", [({name: json_of(row[name]) for name in names}, json_of(row[LABEL])) for row in rows]
    )
    sent, _ = sent_in(client.body)
    return [_received(_reader(public.schema), one) for one in sent]


_DEEP: Final = b"[" * 3_000 + b"]" * 3_000


def of_a_request(public: Public, rows: Rows) -> list[str]:
    """A list of events that nobody has looked at: NaN, odd text, and deep ones without a label."""
    names = [name for name in public.kinds if name != LABEL]
    events = [
        b'{"x": %b, "y": %b}'
        % (
            json.dumps({name: json_of(row[name]) for name in names}, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            ),
            _DEEP if row[LABEL] is None else json.dumps(json_of(row[LABEL])).encode(),
        )
        for row in rows
    ]
    sent, _ = sent_in(b'{"events": [%b]}' % b", ".join(events))
    return [_received(_reader(public.schema), one) for one in sent]


def _received(reader: Any, sent: wire.EventIn | str) -> str:
    [event] = reader(["id"], [sent])
    return "refused" if isinstance(event, Refused) else repr((event.example, event.x))
