"""Read tables and targets as scikit-learn users have them, column by column.

Values are checked here before scikit-learn converts them to one type: in a list, a number with many
digits beside a float, or True beside 1, would decide how other rows are read.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from littlestone.adapters.shared import label_number, label_numbers, readable_times
from littlestone.concepts.records.columns import eager_frame, frame_columns, is_frame, listed, typed
from littlestone.require import plain_array

_NUMBERS: Final = "biuf"
_MOST_WORDS: Final = 20


def columns_of(
    estimator: Any, table: Any, *, reset: bool, names: Sequence[str] | None = None
) -> list[Any]:
    """Return the columns of a table, in the types of the array or data frame.

    Columns of a data frame are matched with ``names``, in any order and beside others.

    The checks of scikit-learn see the shape of the table, the names of its columns, and the numbers
    of a numeric array, of which infinite values and NaN are rejected.
    """
    if is_frame(table):
        frame = eager_frame(table, names)
        native = frame if frame is table else getattr(frame, "to_native", lambda: frame)()
        validate_data(estimator, native, reset=reset, skip_check_array=True)
        rows, count = frame.shape
        if not rows or not count:
            raise ValueError(
                f"Found a table with {rows} sample(s) and {count} feature(s) while a minimum of 1 "
                f"is required."
            )
        return list(frame_columns(frame).values())
    if isinstance(table, np.ma.MaskedArray):
        # scikit-learn would read what is behind the mask.
        table = readable_times(table).tolist()
    rows = None if _has_a_type(table) else _values(table)
    cells = table if rows is None else _cells(rows)
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in (*_NUMBERS, "c"):
        cells = readable_times(cells)
        options = {"dtype": object, "ensure_all_finite": False}
    else:
        options = {"dtype": None, "ensure_all_finite": False}
    array = validate_data(estimator, cells, reset=reset, **options)
    _refuse_infinite(array)
    return list(array.T)


def _refuse_infinite(array: NDArray[Any]) -> None:
    """Reject NaN and infinity by column; scikit-learn would suggest learners without a promise."""
    if array.dtype.kind not in "fc" or np.isfinite(array).all():
        return
    column = int(np.argmin(np.isfinite(array).all(axis=0)))
    raise ValueError(
        f"Input X contains NaN or infinity in column {column}. Declare what counts in place of a "
        f"missing value, as in concepts=Schema.from_mapping({{'age': {{'range': [0, 100], "
        f"'missing': 'own value'}}}}), and pass the rows as a data frame or a list"
    )


def _has_a_type(table: Any) -> bool:
    """Return whether the table has one type for all its values, which the caller chose."""
    names = ("__array__", "__array_interface__", "dtype")
    return isinstance(table, memoryview) or any(hasattr(table, name) for name in names)


def _cells(rows: Sequence[Any]) -> NDArray[Any]:
    """Return rows as an array of objects, for any container of a row's values.

    numpy would convert all rows to one type. scikit-learn rejects a list of single values.
    """
    values = [_values(row) for row in rows]
    widths = {None if row is None else len(row) for row in values}
    if len(widths) > 1:
        raise ValueError("rows of X must be sequences of one length, got others among them")
    if widths <= {None}:
        return np.fromiter(rows, object, len(rows))
    cells = np.fromiter((cell for row in values for cell in row or ()), object)
    return cells.reshape(len(values), -1)


def _values(row: Any) -> Sequence[Any] | None:
    """Return the values of a row; None if it is not a row."""
    if isinstance(row, list | tuple):
        return row
    if hasattr(row, "__array__"):
        array = np.asarray(row)
        return list(array) if array.ndim == 1 else None
    if isinstance(row, str | bytes | bytearray | Mapping | Set) or not hasattr(row, "__len__"):
        return None
    try:
        return list(row)
    except TypeError:
        return None


def targets_of(y: Any, columns: Sequence[Any]) -> NDArray[Any]:
    """Return the targets, one for each row, in their own type if they have one, else as objects."""
    array = typed(y) if getattr(y, "ndim", 1) == 1 else None
    if array is None and plain_array(y) is None and _is_flat(y):
        values = listed(y)
        array = np.fromiter(values, object, len(values))
    targets: NDArray[Any] = column_or_1d(y if array is None else array, warn=True)
    check_consistent_length(columns[0], targets)
    return targets


def _is_flat(y: Any) -> bool:
    listable = hasattr(y, "__iter__") or hasattr(y, "__getitem__")
    return listable and not isinstance(y, str) and getattr(y, "ndim", 1) == 1


def numbers_of(targets: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.uint8]:
    """Return the number of the declared class of each target; reject an undeclared one."""
    declared = label_numbers(classes)
    try:
        known = [label_number(declared, target) for target in targets.tolist()]
    except ValueError as refusal:
        _refuse_as_scikit_learn_does(targets, len(declared))
        raise ValueError(f"{refusal}{_words(targets)}") from None
    return np.array(known, dtype=np.uint8)


def _words(targets: NDArray[Any]) -> str:
    """Suggest a declaration of labels that are words."""
    found = {*targets.tolist()} if all(type(each) is str for each in targets.tolist()) else set()
    if not 2 <= len(found) <= _MOST_WORDS:
        return ""
    return f": if these labels are public knowledge, declare classes={tuple(sorted(found))!r}"


def _refuse_as_scikit_learn_does(targets: NDArray[Any], classes: int) -> None:
    """Raise the message of scikit-learn for targets that are rejected in any case."""
    if targets.dtype.kind not in _NUMBERS:
        return
    assert_all_finite(targets, input_name="y")
    found = type_of_target(targets, input_name="y")
    if found.startswith("continuous"):
        raise ValueError(f"Unknown label type: {found}")
    if found != "binary" and classes == 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {found}."
        )
