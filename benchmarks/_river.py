"""River's logistic regression, by which rates of different machines are compared."""

import time
from collections.abc import Hashable
from typing import Any

import numpy as np
from river import linear_model

_ROUNDS = 30_000


def logistic_rate(times: int = 3) -> float:
    """Return how many rounds it predicts and learns in a second of the processor; the best turn."""
    generator = np.random.default_rng(1)
    labels = (generator.random(_ROUNDS) < 0.5).tolist()
    stream: list[tuple[dict[Hashable, Any], bool]]
    stream = [
        ({"x": x}, y) for x, y in zip(generator.random(_ROUNDS).tolist(), labels, strict=True)
    ]
    return max(_rate(stream) for _ in range(times))


def _rate(stream: list[tuple[dict[Hashable, Any], bool]]) -> float:
    model, began = linear_model.LogisticRegression(), time.process_time()
    for x, y in stream:
        model.predict_one(x)
        model.learn_one(x, y)
    return len(stream) / (time.process_time() - began)
