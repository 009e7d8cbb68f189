"""Tables and targets as scikit-learn's users have them, column by column and as they are.

Whatever scikit-learn's own checks would bring to one type is looked at here first: in a list, a
number with many digits beside a float, or True beside 1, would decide how other rows are read.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from littlestone.concepts.records.columns import listed, typed
from littlestone.integrations.shared import label_number, label_numbers

_NUMBERS: Final = "biuf"


def columns_of(estimator: Any, table: Any, *, reset: bool) -> list[Any]:
    """The columns of a table, in the types that an array or a data frame has them in.

    scikit-learn's checks see its shape and the names of its columns, and the numbers of an array
    that is one of numbers: of these it refuses what is not finite.
    """
    if hasattr(table, "columns"):
        validate_data(estimator, table, reset=reset, skip_check_array=True)
        rows, count = table.shape
        if not rows or not count:
            raise ValueError(
                f"Found a table with {rows} sample(s) and {count} feature(s) while a minimum of 1 "
                f"is required."
            )
        frame = table.iloc if hasattr(table, "iloc") else table
        return [frame[:, place] for place in range(count)]
    cells = _cells(table) if isinstance(table, list | tuple) else table
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in (*_NUMBERS, "c"):
        kept = {"dtype": object, "ensure_all_finite": False}
    else:
        kept = {"dtype": None, "ensure_all_finite": True}
    array = validate_data(estimator, cells, reset=reset, **kept)
    return list(array.T)


def _cells(rows: Sequence[Any]) -> Any:
    """Rows of values as an array of objects; what are no rows of one length, for a closer look."""
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return rows
    widths = {len(row) if np.ndim(row[:0]) == 1 else -1 for row in rows}
    if len(widths) != 1 or widths == {-1}:
        return rows
    (width,) = widths
    cells = np.fromiter((cell for row in rows for cell in row), object, width * len(rows))
    return cells.reshape(len(rows), width)


def targets_of(y: Any, columns: Sequence[Any]) -> NDArray[Any]:
    """The targets, one for each row, in their own type if they have one and as objects if not."""
    array = typed(y) if getattr(y, "ndim", 1) == 1 else None
    if array is None and not isinstance(y, np.ndarray) and _is_flat(y):
        values = listed(y)
        array = np.fromiter(values, object, len(values))
    targets: NDArray[Any] = column_or_1d(y if array is None else array, warn=True)
    check_consistent_length(columns[0], targets)
    return targets


def _is_flat(y: Any) -> bool:
    return hasattr(y, "__iter__") and not isinstance(y, str) and getattr(y, "ndim", 1) == 1


def numbers_of(targets: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.uint8]:
    """Which of the declared classes each target is; one that is none of them is refused."""
    declared = label_numbers(classes)
    try:
        known = [label_number(declared, target) for target in targets.tolist()]
    except ValueError:
        _refuse_as_scikit_learn_does(targets)
        raise
    return np.array(known, dtype=np.uint8)


def _refuse_as_scikit_learn_does(targets: NDArray[Any]) -> None:
    """Some target is refused in any case; here is only said why, in scikit-learn's words."""
    if targets.dtype.kind not in _NUMBERS:
        return
    assert_all_finite(targets, input_name="y")
    found = type_of_target(targets, input_name="y")
    if found.startswith("continuous"):
        raise ValueError(f"Unknown label type: {found}")
    if found != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {found}."
        )
