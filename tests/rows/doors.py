"""Every door through which rows come in."""

from typing import Final

from tests.rows.adapters import (
    as_array,
    as_frame,
    as_lists,
    as_other_sequences,
    as_rows_of_all_kinds,
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
    MEASURED,
    PARQUET,
    csv_writer,
    german_of,
    into_a_journal,
    japanese_of,
    measured_of,
    of_a_feature,
    of_a_fleet,
    of_arrow,
    of_files,
    of_nested_parquet,
    of_parquet,
    of_spark,
    packed_of,
    put_into_a_fleet,
    skipped_of,
    text_of,
    write_json,
    write_nested,
)
from tests.rows.frames import (
    DUCKDB,
    of_arrow_in_pandas,
    of_checked,
    of_duckdb,
    of_frames,
    of_objects,
    of_pandas,
    of_polars,
    of_tables,
    without_labels,
)
from tests.rows.memory import of_a_run, of_columns, of_points, of_records, points_drawn
from tests.rows.tables import LABEL, WIDE, drawn, with_many_labels
from tests.rows.typed import NUMPY, PANDAS, POLARS, array_of, polars_of, series_of, typed_tables

from littlestone.runs.intake.readers import Columns

DOORS: Final = (
    Door("records", drawn, of_records),
    Door("a run", drawn, of_a_run, whole=False),
    Door("columns of lists", drawn, of_columns(lambda _, values: values)),
    Door("columns of tuples", drawn, of_columns(lambda _, values: tuple(values))),
    Door("columns of objects", drawn, of_columns(lambda _, values: objects(values))),
    Door("numpy", typed_tables(NUMPY), of_columns(array_of)),
    Door("numpy, wide", typed_tables(NUMPY, (WIDE,)), of_columns(array_of)),
    Door("pandas", typed_tables(PANDAS), of_columns(series_of)),
    Door("polars", typed_tables(POLARS), of_columns(polars_of)),
    Door("polars, frames", typed_tables(POLARS), of_checked(of_polars)),
    Door("arrow tables", typed_tables(PARQUET), of_arrow),
    Door("arrow in pandas", typed_tables(PARQUET), of_checked(of_arrow_in_pandas)),
    Door("learned, objects of pandas", drawn, of_frames(of_objects), whole=False),
    Door("learned, pandas", typed_tables(PANDAS), of_frames(of_pandas), whole=False),
    Door("learned, polars", typed_tables(POLARS), of_frames(of_polars), whole=False),
    Door("learned, arrow", typed_tables(PARQUET), of_frames(of_tables), whole=False),
    Door(
        "learned, arrow in pandas",
        typed_tables(PARQUET),
        of_frames(of_arrow_in_pandas),
        whole=False,
    ),
    Door("learned, duckdb", typed_tables(DUCKDB), of_frames(of_duckdb), whole=False),
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
    Door("parquet, nested", typed_tables(PARQUET), of_nested_parquet, whole=False),
    Door(
        "csv, packed", drawn, of_files("rows.csv.gz", packed_of(csv_writer(text_of))), whole=False
    ),
    Door("scikit-learn, lists", without_dates(drawn), of_estimators(as_lists)),
    Door("scikit-learn, rows", without_dates(drawn), of_estimators(as_rows_of_all_kinds)),
    Door("scikit-learn, sequences", without_dates(drawn), of_estimators(as_other_sequences)),
    Door("scikit-learn, arrays", of_one_type, of_estimators(as_array)),
    Door("scikit-learn, frames", without_dates(typed_tables(PANDAS)), of_estimators(as_frame)),
    Door(
        "scikit-learn, arrow in pandas",
        without_dates(typed_tables(PARQUET)),
        of_estimators(without_labels),
    ),
    Door("river", drawn, of_river, whole=False),
    Door("client", drawn, of_a_client),
    Door("a request", drawn, of_a_request, whole=False),
    Door("fleet, files", drawn, of_a_fleet),
    Door("fleet, put", drawn, put_into_a_fleet),
    Door("spark", drawn, of_spark, whole=False),
    Door("journal, csv", drawn, into_a_journal("rows.csv", csv_writer(text_of)), whole=False),
    Door("journal, json lines", drawn, into_a_journal("rows.jsonl", write_json), whole=False),
    Door(
        "csv, a word as label",
        drawn,
        of_files("rows.csv", csv_writer(text_of), columns=Columns(label=LABEL, positive="1")),
        whole=False,
    ),
    Door(
        "json lines, a word as label",
        drawn,
        of_files(
            "rows.jsonl", write_json, skipped=1, columns=Columns(label=LABEL, positive="true")
        ),
        whole=False,
    ),
    Door(
        "csv, units and counted dates",
        drawn,
        of_files("rows.csv", skipped_of(csv_writer(measured_of)), form=MEASURED),
        whole=False,
    ),
    Door(
        "many labels, csv",
        with_many_labels(drawn),
        of_files("rows.csv", csv_writer(text_of)),
        whole=False,
    ),
    Door(
        "many labels, json lines",
        with_many_labels(drawn),
        of_files("rows.jsonl", write_json, skipped=1),
        whole=False,
    ),
    Door("many labels, parquet", with_many_labels(typed_tables(PARQUET)), of_parquet, whole=False),
    Door("many labels, learned", with_many_labels(drawn), of_frames(of_objects), whole=False),
    Door("many labels, river", with_many_labels(drawn), of_river, whole=False),
    Door("many labels, request", with_many_labels(drawn), of_a_request, whole=False),
    Door("many labels, spark", with_many_labels(drawn), of_spark, whole=False),
    Door(
        "many labels, sequences",
        with_many_labels(without_dates(drawn)),
        of_estimators(as_other_sequences),
    ),
    Door(
        "many labels, scikit-learn",
        with_many_labels(without_dates(drawn)),
        of_estimators(as_lists),
    ),
    Door("points", points_drawn, of_points),
    Door("points of a file", points_drawn, of_a_feature, whole=False),
)
