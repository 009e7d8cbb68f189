"""Every door through which rows come in."""

from typing import Final

from tests.rows.adapters import (
    as_array,
    as_frame,
    as_lists,
    of_a_client,
    of_a_request,
    of_estimators,
    of_one_type,
    of_river,
    without_dates,
)
from tests.rows.door import Door, objects
from tests.rows.files import (
    GERMAN,
    JAPANESE,
    PARQUET,
    csv_writer,
    german_of,
    japanese_of,
    of_a_feature,
    of_a_fleet,
    of_arrow,
    of_files,
    of_parquet,
    of_spark,
    put_into_a_fleet,
    text_of,
    write_json,
    write_nested,
)
from tests.rows.memory import of_a_run, of_columns, of_points, of_records, points_drawn
from tests.rows.tables import LABEL, drawn
from tests.rows.typed import NUMPY, PANDAS, POLARS, array_of, polars_of, series_of, typed_tables

from littlestone.runs.intake.readers import Columns

DOORS: Final = (
    Door("records", drawn, of_records),
    Door("a run", drawn, of_a_run, whole=False),
    Door("columns of lists", drawn, of_columns(lambda _, values: values)),
    Door("columns of tuples", drawn, of_columns(lambda _, values: tuple(values))),
    Door("columns of objects", drawn, of_columns(lambda _, values: objects(values))),
    Door("numpy", typed_tables(NUMPY), of_columns(array_of)),
    Door("pandas", typed_tables(PANDAS), of_columns(series_of)),
    Door("polars", typed_tables(POLARS), of_columns(polars_of)),
    Door("arrow tables", typed_tables(PARQUET), of_arrow),
    Door("csv", drawn, of_files("rows.csv", csv_writer(text_of)), whole=False),
    Door("json lines", drawn, of_files("rows.jsonl", write_json, skipped=1), whole=False),
    Door(
        "csv, other marks",
        drawn,
        of_files("rows.csv", csv_writer(german_of), form=GERMAN),
        whole=False,
    ),
    Door(
        "csv, Japanese",
        drawn,
        of_files("rows.csv", csv_writer(japanese_of, "iso2022_jp"), form=JAPANESE),
        whole=False,
    ),
    Door(
        "csv, a number as label",
        drawn,
        of_files("rows.csv", csv_writer(text_of), columns=Columns(label=LABEL, at_least=1)),
        whole=False,
    ),
    Door(
        "json lines, nested",
        drawn,
        of_files("rows.jsonl", write_nested, skipped=1, columns=Columns(label=f"of.{LABEL}")),
        whole=False,
    ),
    Door("parquet", typed_tables(PARQUET), of_parquet, whole=False),
    Door("scikit-learn, lists", without_dates(drawn), of_estimators(as_lists)),
    Door("scikit-learn, arrays", of_one_type, of_estimators(as_array)),
    Door("scikit-learn, frames", without_dates(typed_tables(PANDAS)), of_estimators(as_frame)),
    Door("river", drawn, of_river, whole=False),
    Door("client", drawn, of_a_client),
    Door("a request", drawn, of_a_request, whole=False),
    Door("fleet, files", drawn, of_a_fleet),
    Door("fleet, put", drawn, put_into_a_fleet),
    Door("spark", drawn, of_spark, whole=False),
    Door("points", points_drawn, of_points),
    Door("points of a file", points_drawn, of_a_feature, whole=False),
)
