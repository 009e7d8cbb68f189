"""Ranges that cost privacy: which rows are read, what it costs whom, and nothing is lost of it."""

import io
import math
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.schema import Schema
from littlestone.learners.sanitizers.private_cuts import PrivateCuts
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import seeded
from littlestone.runs.intake.form import Form
from littlestone.runs.ranges import PaidRanges, fields_in, paid_in, proposed


def tables_read(
    monkeypatch: pytest.MonkeyPatch, path: Path, names: list[str], paid: PaidRanges
) -> list[list[float]]:
    """What the mechanism is given."""
    seen: list[list[float]] = []

    def release(recipe: PrivateCuts, table: Any, *, rng: Any) -> Any:
        assert (recipe.columns, recipe.epsilon) == (len(names), paid.epsilon)
        seen.extend(column.tolist() for column in table)
        return [()] * len(table)

    monkeypatch.setattr(PrivateCuts, "release", release)
    proposed(str(path), names, paid, form=Form(), standard_input=io.BytesIO(), rng=seeded(1))
    return seen


def test_a_row_has_in_each_column_a_number_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["1,2", "x,3", ",4", "5", "1,2,3", '"6",7', "", f"{'9' * 5000},-1e999", "nan,0x10"]
    (tmp_path / "a.csv").write_text("a,b\n" + "\n".join(rows) + "\n")
    paid = PaidRanges.fresh(1.0, "a.csv", None, 1)
    a, b = tables_read(monkeypatch, tmp_path / "a.csv", ["a", "b"], paid)
    none = math.nan
    assert repr(a) == repr([1.0, none, none, 6.0, math.inf, none])
    assert repr(b) == repr([2.0, 3.0, 4.0, 7.0, -math.inf, none])


def test_of_each_user_so_many_rows_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["1,ann", "2,bob", "3, ANN", "4,ann", "5,", "6,", "7,", "8,bob"]
    (tmp_path / "a.csv").write_text("a,who\n" + "\n".join(rows) + "\n")
    paid = PaidRanges.fresh(1.0, "a.csv", "who", 2)
    (a,) = tables_read(monkeypatch, tmp_path / "a.csv", ["a"], paid)
    assert a == [1, 2, 3, 5, 6, 8]


def test_what_it_costs_depends_on_whose_rows_were_counted() -> None:
    by_row, by_user = (PaidRanges.fresh(0.5, "f", *whose) for whose in ((None, 1), ("who", 3)))
    assert by_row.cost(None, 1) == by_user.cost(None, 1) == PrivacyGuarantee(epsilon=0.5)
    assert by_row.cost(None, 4) == by_user.cost(None, 4) == PrivacyGuarantee(epsilon=2.0)
    assert by_user.cost("who", 2) == PrivacyGuarantee(epsilon=1.5)
    for paid, users in ((by_row, "who"), (by_user, "account")):
        with pytest.raises(ValueError, match="any number of rows"):
            paid.cost(users, 2)
    with pytest.raises(ValueError, match="needs --user"):
        PaidRanges.fresh(0.5, "f", None, 2)


def test_a_schema_tells_what_was_spent_and_only_who_counts_it_may_use_it() -> None:
    paid = PaidRanges.fresh(0.5, "folder/flights.csv", None, 1)
    tables: dict[str, Any] = {"delay": {"grid": [1, 2]}, "private-ranges": [paid.table()]}
    assert paid_in(tables) == (paid,) and paid.source == "flights.csv"
    assert paid_in(None) == paid_in({"delay": {"grid": [1]}}) == ()
    assert Schema.from_mapping(fields_in(tables)).to_json() == [{"name": "delay", "grid": [1, 2]}]
    with pytest.raises(ValueError, match="cost privacy"):
        Schema.from_mapping(tables)


@pytest.mark.parametrize(
    "change",
    [{"epsilon": 0}, {"epsilon": "0.5"}, {"epsilon": math.inf}, {"max_contributions": 0}, {"x": 1},
     {"user": 3}, {"identity": 5}, None],
)  # fmt: skip
def test_what_was_altered_is_refused_and_never_left_out(change: dict[str, Any] | None) -> None:
    table: Any = PaidRanges.fresh(0.5, "f", "who", 2).table()
    table = [table | change] if change is not None else ["0.5"]
    with pytest.raises(ValueError, match="private-ranges in the schema"):
        paid_in({"private-ranges": table})


def test_a_field_of_that_name_is_a_field() -> None:
    tables = {"private-ranges": {"grid": [1]}}
    assert paid_in(tables) == () and fields_in(tables) == tables
    assert Schema.from_mapping(tables).fields[0].name == "private-ranges"
