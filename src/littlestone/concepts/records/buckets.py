"""Hash a column with too many values to declare into a declared number of buckets.

The hash is public and fixed: a function of the value alone, equal for every schema, run and
version. So no value affects how another is read, and a published rule can be applied anywhere.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from numbers import Integral
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.records.columns import listed
from littlestone.concepts.records.fields import OWN_VALUE, Category
from littlestone.type_checks import is_a

MOST: Final = 4096
"""The largest number of buckets of a field; each is a candidate question."""


@lru_cache(maxsize=1 << 16)
def _hashed(text: str, buckets: int) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]) % buckets


def bucket_of(value: Any, buckets: int) -> int:
    """Return the bucket of a text or an integer, which is hashed as decimal text.

    It is the first four bytes of SHA-256 as an integer, modulo ``buckets``.

    >>> bucket_of("Müller & Co", 32), bucket_of(17, 32) == bucket_of("17", 32)
    (26, True)

    Raises:
        ValueError: The value is neither.
    """
    if type(value) is str:
        return _hashed(value, buckets)
    try:
        if is_a(value, str):
            # A plain text: by its own equality a value could be found for others in the cache.
            return _hashed(str.__str__(value), buckets)
        if is_a(value, Integral) and not is_a(value, bool):
            return _hashed(str(int(value)), buckets)
        # pandas stores integers in columns with gaps as floats.
        if is_a(value, float | np.floating) and value.is_integer():
            return _hashed(str(int(value)), buckets)
    except Exception:  # raised by the value itself
        pass
    raise ValueError(
        f"value must be text or a whole number to have a bucket, got {require.shown(value)}"
    )


@require.checked
@dataclass(frozen=True, slots=True)
class Buckets(Category):
    """A text or an integer that rules see only by its bucket.

    ``values`` are the buckets, counted from 0, and perhaps ``"own value"`` for what is missing.

    >>> merchant = Buckets("merchant", tuple(range(32)))
    >>> merchant.cell("Müller & Co"), merchant.describe(26, 26)
    (26, 'merchant is in bucket 26 of 32')
    """

    def __post_init__(self) -> None:
        Category.__post_init__(self)
        count = self.count
        if self.values[:count] != tuple(range(count)) or not 2 <= count <= MOST or self.date:
            raise ValueError(f"buckets of field {self.name!r} must be numbered, at most {MOST:,}")
        if self.missing != (None if count == len(self.values) else OWN_VALUE):
            raise ValueError(
                f"missing of field {self.name!r} must be {OWN_VALUE!r} or not declared, got "
                f"{require.shown(self.missing)}"
            )

    @property
    def count(self) -> int:
        """The number of buckets."""
        return len(self.values) - (self.values[-1] == OWN_VALUE)

    def cell(self, value: Any) -> int:
        """Return the cell of a value: its bucket, or the stand-in if it is missing."""
        try:
            return bucket_of(value, self.count)
        except ValueError:
            return self.declared_cell(value) if self.missing is None else self.stand_in

    def declared_cell(self, value: Any) -> int:
        """Return the bucket of a value that must not be missing."""
        try:
            return bucket_of(value, self.count)
        except ValueError:
            pass
        raise ValueError(
            f"field {self.name!r} must be a text or a whole number, got {require.shown(value)}"
        )

    @property
    def stand_in(self) -> int:
        """The cell of missing values: their own, or the first."""
        return 0 if self.missing is None else self.count

    def cells_of(self, column: Any) -> NDArray[np.int64]:
        """Return ``cell`` of each value of a column."""
        values = listed(column)
        return np.fromiter(map(self.cell, values), np.int64, len(values))

    def describe(self, low: int, high: int) -> str:
        """Return the condition that the value is in the bucket of the only cell."""
        require.integer(low=low, high=high, at_least=0, at_most=self.cells - 1)
        if self.values[low] == OWN_VALUE:
            return f"{self.name} is missing"
        return f"{self.name} is in bucket {low} of {self.count}"

    def coarsened(self, most: int) -> "Buckets":
        """Return the field with fewer buckets."""
        return Buckets(self.name, tuple(range(max(2, min(most, self.count)))))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self._json(buckets=self.count)
