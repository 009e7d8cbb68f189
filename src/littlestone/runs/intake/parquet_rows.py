"""Read rows from Parquet files; what is in a struct has a dotted name."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from littlestone.concepts.records.columns import listed
from littlestone.runs.intake.form import Row
from littlestone.runs.intake.lines import refuse_twice


def column_kinds(source: str) -> dict[str, str]:
    """Return what the columns of a Parquet file hold by declaration: numbers, dates or text."""
    if not source.endswith(".parquet"):
        return {}
    leaves = _leaves(Path(source))
    from pyarrow import types  # noqa: PLC0415

    found, numbers = {}, (types.is_integer, types.is_floating, types.is_decimal)
    for name, kind in leaves:
        if types.is_temporal(kind) and not types.is_duration(kind):
            found[name] = "date"
        elif any(fits(kind) for fits in numbers):
            found[name] = "number"
        else:
            found[name] = "text"
    return found


def _leaves(path: Path) -> list[tuple[str, Any]]:
    """Return the columns of a Parquet file and their types, dotted where they are in structs."""
    try:
        from pyarrow import ArrowException, parquet, types  # noqa: PLC0415
    except ImportError:
        raise ValueError(
            "reading Parquet needs pyarrow: pip install 'littlestone[parquet]'"
        ) from None

    def walk(fields: Any, before: str) -> Iterator[tuple[str, Any]]:
        for field in fields:
            if types.is_struct(field.type) and field.type.num_fields:
                yield from walk(field.type, f"{before}{field.name}.")
            else:
                yield f"{before}{field.name}", field.type

    try:
        return list(walk(parquet.read_schema(path), ""))
    except (ArrowException, OSError) as problem:
        _raise_of_the_system(problem)
        raise ValueError(f"{path} is not a Parquet file: {problem}") from None


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns."""
    return [name for name, _ in _leaves(path)]


def parquet_rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yield the needed values of each row; reject a file without their columns at once."""
    names = parquet_names(path)
    from pyarrow import ArrowException, parquet  # noqa: PLC0415

    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; there are: {', '.join(names)}")
    refuse_twice(names, needed)
    file, columns = parquet.ParquetFile(path), list(dict.fromkeys(needed))
    # One group at a time: pyarrow joins no dictionaries that are in structs of several groups.
    groups = range(file.num_row_groups)
    batches = (
        batch for at in groups for batch in file.iter_batches(row_groups=[at], columns=columns)
    )
    return enumerate(_rows(path, batches, needed, (ArrowException, OSError)), start=1)


def _rows(
    path: Path, batches: Any, needed: Sequence[str], trouble: tuple[type[Exception], ...]
) -> Iterator[Sequence[Any]]:
    try:
        for batch in batches:
            columns = [listed(_leaf(batch, name)) for name in needed]
            yield from zip(*columns, strict=True)
    except trouble as problem:
        _raise_of_the_system(problem)
        raise ValueError(f"{path} is damaged: {problem}") from None


def _raise_of_the_system(problem: Exception) -> None:
    """Raise an error of the operating system; Arrow reports damage without an error number."""
    if isinstance(problem, OSError) and problem.errno is not None:
        raise problem


def _leaf(batch: Any, name: str) -> Any:
    """Return a column of a batch, or one in its structs; without the struct it is null."""
    if name in batch.schema.names:
        return batch.column(name)
    from pyarrow import compute  # noqa: PLC0415

    parts = name.split(".")
    cut = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in batch.schema.names)
    return compute.struct_field(batch.column(".".join(parts[:cut])), parts[cut:])
