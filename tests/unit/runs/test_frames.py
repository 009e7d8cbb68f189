"""Data frames are learned from as files are: the same rows give the same rounds."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from littlestone.choose.request import Request
from littlestone.cli.main import main
from littlestone.concepts.schema import Schema
from littlestone.errors import StoreError
from littlestone.runs import BadRowError, learn_frame
from littlestone.runs.durable import DurableRun
from littlestone.runs.published import recent_rules, steady_rule

SCHEMA = Schema.from_mapping(
    {
        "amount": {"range": [0, 100], "missing": "own value"},
        "town": {"values": ["Ulm", "Köln"], "missing": "own value"},
        "when": {"date": ["month"]},
        "shop": {"buckets": 4},
    }
)
LEARNER = Request(over=SCHEMA, max_contributions=2).recipe()
ROWS = 600
FEW = 60  # where one of them is the point


def table(rows: int = ROWS) -> dict[str, list[Any]]:
    amounts = [None if n % 7 == 0 else (n * 37 % 1000) / 10 for n in range(rows)]
    return {
        "amount": amounts,
        "town": [("Ulm", "Köln", "Bonn", None)[n % 4] for n in range(rows)],
        "when": [pd.Timestamp(2026, 1 + n % 12, 1).to_pydatetime() for n in range(rows)],
        "shop": [f"m{n}" for n in range(rows)],
        "late": [("ja", "nein")[amount is None or amount < 60] for amount in amounts],
        "who": [n // 3 for n in range(rows)],
        "id": [f"e{n}" for n in range(rows)],
    }


FRAMES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame(table()),
    "pandas, reordered": lambda: pd.DataFrame(table()).sort_index(axis=1),
    "polars": lambda: pl.DataFrame(table()),
    "polars, lazy": lambda: pl.LazyFrame(table()),
    "pyarrow": lambda: pa.table(table()),
    "duckdb": lambda: duckdb.from_arrow(pa.table(table())),
}


STATED = {
    "amount": {"range": [0, 100], "missing": "own value"},
    "town": {"values": ["Ulm", "Köln"], "missing": "own value"},
    "when": ["month"],
    "shop": 4,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_schema_has_the_names_of_a_frame_and_the_statements_of_its_owner(kind: str) -> None:
    assert Schema.from_frame(FRAMES[kind](), STATED) == SCHEMA


def test_no_row_is_read_for_a_schema() -> None:
    def refuse(rows: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("a row was read")

    frame = pl.LazyFrame(table()).map_batches(refuse, schema=pl.DataFrame(table()).schema)
    assert Schema.from_frame(frame, STATED) == SCHEMA


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({}, "from public knowledge and not from the rows.*'amount': .LOW, HIGH."),
        ({"amuont": (0, 1)}, "there is no column 'amuont'"),
        ({"amount": ["low", "high"]}, "'amount', which holds numbers, must be stated as .LOW"),
        ({"when": (0, 1)}, "'when', which holds dates, must be stated as .*weekday"),
        ({"town": (0, 1)}, "'town', which holds texts"),
        ({"town": True}, "'town', which holds texts"),
    ],
)
def test_a_statement_that_does_not_fit_a_frame_is_refused(stated: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Schema.from_frame(pl.DataFrame(table()), stated)


@pytest.fixture
def at(tmp_path: Path) -> dict[str, Any]:
    return {"store": tmp_path / "run.db", "out": tmp_path / "rules.jsonl", "label": "late"}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same_rounds(kind: str, at: dict[str, Any]) -> None:
    tally = learn_frame(FRAMES[kind](), LEARNER, **at, identity="id", user="who", positive="ja")
    assert (tally.taken, tally.over_limit, tally.stood_in, tally.rejected) == (
        ROWS,
        ROWS // 3,
        0,
        0,
    )
    other = pd.DataFrame(table()).iloc[::-1]  # the same events under the same ids, or a refusal
    again = learn_frame(other, LEARNER, **at, identity="id", user="who", positive="ja")
    assert (again.taken, again.repeated, again.rejected) == (0, ROWS, 0)
    assert steady_rule(recent_rules(str(at["out"]))).describe()


@pytest.mark.parametrize("cell", [np.array([1, 2]), np.array([]), Decimal("sNaN"), {}])
@pytest.mark.parametrize("column", ["amount", "town", "late", "who"])
def test_a_cell_that_no_column_holds_is_one_rows_affair(
    column: str, cell: Any, at: dict[str, Any]
) -> None:
    """Lists in a column of objects, as pandas reads them from Parquet, have no single answer."""
    values: list[Any] = table(FEW)[column]
    values[55] = cell
    frame = pd.DataFrame(table(FEW) | {column: pd.Series(values, dtype=object)})
    tally = learn_frame(frame, LEARNER, **at, identity="id", user="who", positive="ja")
    assert (tally.taken, tally.rejected) == (FEW, 0)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_may_have_several_meanings(kind: str, at: dict[str, Any]) -> None:
    parts = Schema.from_mapping({"when": {"date": ["month", "weekday"]}})
    learner = Request(over=parts).recipe()
    tally = learn_frame(FRAMES[kind](), learner, **at, identity="id", user="id", positive="ja")
    assert (tally.taken, tally.stood_in) == (ROWS, 0)


def test_wide_integers_are_read_with_and_without_gaps() -> None:
    """numpy has none of 128 bits: one missing value decided whether the others were refused."""
    schema = Schema.from_mapping({"n": {"grid": [1, 2**100], "missing": "own value"}})
    full = pl.DataFrame({"n": pl.Series([0, 2**100], dtype=pl.Int128)})
    gaps = pl.DataFrame({"n": pl.Series([0, 2**100, None], dtype=pl.Int128)})
    assert schema.check_many(full).tolist() == schema.check_many(gaps).tolist()[:2] == [[1], [3]]


@pytest.mark.parametrize("kind", ["Int64", "UInt8", "boolean", "Float32", "Sparse[int]"])
@pytest.mark.parametrize("column", ["x", "label", "who", "merchant"])
def test_a_nullable_column_holds_plain_values(column: str, kind: str, at: dict[str, Any]) -> None:
    """Their values are numpy's, which were neither labels nor users nor points."""
    frame = pd.DataFrame({name: [0, 1] * 50 for name in ("x", "label", "merchant", "who")})
    frame[column] = frame[column].astype("int64" if kind == "Int64" else "int8").astype(kind)
    if column == "merchant":
        over: Any = Schema.from_mapping({"merchant": {"buckets": 4}})
        feature = None
    else:
        over, feature = "thresholds:4", "x"
    learner = Request(over=over, rounds=1000, delta=1e-6, max_contributions=50).recipe()
    call = {**at, "label": "label", "user": "who"}
    tally = learn_frame(frame, learner, **call, feature=feature, source="a", check=0)
    known = 0 if kind == "boolean" and column in ("x", "merchant") else 100  # no numbers
    assert tally.taken - tally.stood_in == known and not tally.over_limit


def test_a_date_that_python_cannot_hold_is_one_rows_affair() -> None:
    schema = Schema.from_mapping({"d": {"date": ["month"], "missing": "own value"}})
    days = pl.Series("d", [0, 2**31 - 1, 31], dtype=pl.Int32).cast(pl.Date)
    assert schema.check_many(pl.DataFrame({"d": days})).tolist() == [[1], [0], [2]]


def test_rows_are_known_by_the_name_of_their_source(at: dict[str, Any]) -> None:
    frame = pd.DataFrame(table())
    call = {**at, "positive": "ja"}
    assert learn_frame(frame[:400], LEARNER, **call, source="May").taken == 400
    more = learn_frame(frame, LEARNER, **call, source="May")  # it has grown
    assert (more.taken, more.repeated) == (ROWS - 400, 400)
    assert learn_frame(frame, LEARNER, **call, source="June").taken == ROWS
    wrong: list[dict[str, Any]] = [{}, {"source": "May", "identity": "id"}]
    for names in wrong:
        with pytest.raises(ValueError, match="source"):
            learn_frame(frame, LEARNER, **call, **names)


@pytest.mark.parametrize("by_id", [True, False])
def test_rows_read_by_their_lines_or_ids_are_not_read_by_the_other(
    by_id: bool, at: dict[str, Any]
) -> None:
    frame, call = pd.DataFrame(table()), {**at, "positive": "ja"}
    names: list[dict[str, Any]] = [{"source": "May"}, {"identity": "id"}]
    first, second = names[::-1] if by_id else names
    assert learn_frame(frame, LEARNER, **call, **first).taken == ROWS
    way_out = "Give the column of ids again" if by_id else "Give source='May' and no identity"
    with pytest.raises(StoreError, match=way_out):
        learn_frame(frame, LEARNER, **call, **second)
    assert learn_frame(frame, LEARNER, **call, **first).repeated == ROWS
    if not by_id:  # other rows may have ids
        assert learn_frame(frame[1::2], LEARNER, **call, **second).taken == ROWS / 2


def test_rows_read_by_their_ids_are_not_read_by_others(at: dict[str, Any]) -> None:
    frame, call = pd.DataFrame(table()), {**at, "positive": "ja"}
    frame["other"] = [f"other{place}" for place in range(ROWS)]
    assert learn_frame(frame, LEARNER, **call, identity="id").taken == ROWS
    with pytest.raises(StoreError, match="Give the column of those ids as identity"):
        learn_frame(frame, LEARNER, **call, identity="other")
    assert learn_frame(frame[::-1], LEARNER, **call, identity="id").repeated == ROWS


def test_nothing_is_spent_where_most_rows_do_not_fit(at: dict[str, Any]) -> None:
    german = pd.DataFrame(table()).assign(amount="27,79")
    with pytest.raises(BadRowError, match="most rows do not fit: 600 of 600") as refusal:
        learn_frame(german, LEARNER, **at, source="May", positive="ja")
    assert "Nothing was spent" in str(refusal.value)
    with pytest.raises(ValueError, match="there is no column 'customer'"):
        learn_frame(german, LEARNER, **at, source="May", positive="ja", user="customer")
    with pytest.raises(ValueError, match="must be a data frame"):
        learn_frame([1, 2], LEARNER, **at, source="May")
    assert not Path(at["store"]).exists() and not Path(at["out"]).exists()


def test_a_store_remembers_columns_of_any_name(at: dict[str, Any]) -> None:
    names = {"late": 'late \x7f"\\', "id": "id\n\x7f"}
    call = {**at, "label": names["late"], "identity": names["id"], "positive": "ja"}
    frame = pd.DataFrame(table()).rename(columns=names)
    assert learn_frame(frame, LEARNER, **call).taken == ROWS
    assert learn_frame(frame, LEARNER, **call).repeated == ROWS


def test_a_label_keeps_its_meaning(at: dict[str, Any]) -> None:
    frame = pd.DataFrame(table())
    learn_frame(frame, LEARNER, **at, source="May", positive="ja")
    with pytest.raises(StoreError, match="two meanings of a label"):
        learn_frame(frame, LEARNER, **at, source="June", positive="nein")
    with pytest.raises(StoreError):
        other = Request(over=SCHEMA, max_contributions=2, epsilon=2.0).recipe()
        learn_frame(frame, other, **at, source="June", positive="ja")
    durable = DurableRun.resume(LEARNER, at["store"])
    assert durable.rounds == ROWS
    durable.close()


def test_the_commands_read_what_it_writes(
    at: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learn_frame(pd.DataFrame(table()), LEARNER, **at, source="May", positive="ja")
    for words in (
        ["status", str(at["store"])],
        ["verify", str(at["out"]), "--store", str(at["store"])],
        ["export", str(at["out"])],
        ["report", str(at["store"]), "--out", str(Path(at["out"]).with_name("report.html"))],
    ):
        monkeypatch.setattr("sys.argv", ["littlestone", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, capsys.readouterr()


class Mute:
    """What can neither be shown nor compared."""

    def _refuse(self) -> Any:
        raise RuntimeError("this object answers nothing")

    __repr__ = __str__ = __hash__ = _refuse


def mute(kind: type, *given: Any) -> Any:
    """A value of a subclass that answers nothing; a proxy does not even say of which."""

    def refuse(*_: Any) -> Any:
        raise RuntimeError

    methods: dict[str, Any] = dict.fromkeys(["__eq__", "__hash__", "__str__", "strip"], refuse)
    methods |= {"__class__": property(refuse)} if kind is object else {"is_nan": refuse}
    return type("Mute", (kind,), methods)(*given)


MUTE = [lambda: mute(str, "1"), lambda: mute(Decimal, 1), lambda: mute(object), Mute]


@pytest.mark.parametrize(
    "made", [lambda: 10**5000, *MUTE, lambda: Decimal("1e999999"), lambda: [[1]]]
)
@pytest.mark.parametrize("name", [name for name in table() if name not in ("id", "late")])
def test_no_value_refuses_a_frame(name: str, made: Any, tmp_path: Path) -> None:
    """A row that does not fit is a round with stand-ins, and the others are rounds as before."""
    rows = table(FEW)
    rows[name][7] = made()
    frame = pd.DataFrame({each: pd.Series(rows[each], dtype=object) for each in rows})
    columns: dict[str, Any] = {"label": "late", "identity": "id", "user": "who"}
    done = learn_frame(frame, LEARNER, store=tmp_path / "s", out=tmp_path / "o", **columns)
    assert (done.taken, done.rejected) == (FEW, 0)


@pytest.mark.parametrize("made", [lambda: 10**5000, *MUTE])
def test_no_label_refuses_a_frame(made: Any, tmp_path: Path) -> None:
    rows = table(FEW)
    rows["late"][7] = made()
    frame = pd.DataFrame({each: pd.Series(rows[each], dtype=object) for each in rows})
    done = learn_frame(
        frame, LEARNER, store=tmp_path / "s", out=tmp_path / "o", label="late", source="a"
    )
    assert done.taken == FEW


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("late", ["On Time", "Late"] * 20, "add positive='On Time' (or 'Late')"),
        ("late", [n * 7 % 90 for n in range(40)], "add at_least=NUMBER"),
        ("late", ["a", "b", "c", "d"] * 10, "or positive= and the one that counts as 1"),
        ("delay", ["3,5"] * 40, "add a column of numbers or dates, in place of text"),
    ],
)
def test_advice_is_given_as_arguments_and_not_as_options(
    column: str, values: list[Any], told: str, tmp_path: Path
) -> None:
    rows = {"delay": list(range(40)), "late": [0, 1] * 20} | {column: values}
    learner = Request(over=Schema.from_mapping({"delay": {"range": [0, 40]}})).recipe()
    with pytest.raises(BadRowError) as refusal:
        learn_frame(
            pd.DataFrame(rows),
            learner,
            store=tmp_path / "s",
            out=tmp_path / "o",
            label="late",
            source="a",
        )
    assert told in str(refusal.value) and "--" not in str(refusal.value)
    assert not (tmp_path / "s").exists()


def test_a_column_of_text_has_no_range() -> None:
    frame = pd.DataFrame({"town": pd.Series(["Ulm", "Bonn"], dtype="str")})
    with pytest.raises(ValueError, match="'town', which holds texts, must be stated as"):
        Schema.from_frame(frame, {"town": (0, 1)})
