"""Simulated streams: some of one law, some whose law changes, slowly or at once."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray

ROUNDS = 40_000
DECLARED = {"a": {"grid": [1, 2, 3, 4, 5]}, "b": {"grid": [1, 2, 3]}, "c": {"values": [0, 1, 2, 3]}}
# What happens, in words; the first three have one law throughout.
SIMULATED = {
    "clear": "one rule, one label of ten wrong",
    "noisy": "one rule, three labels of ten wrong",
    "weak": "rare labels, likelier with each field",
    "changed": "another rule from the middle on",
    "turned over": "the labels turn over in the middle",
    "slow rule": "the rule's threshold moves from one end to the other",
    "slow rate": "labels become frequent, rare, and frequent again",
    "days": "each thousand rounds have good or bad weather",
}

Truths = NDArray[np.bool_]


def simulated(name: str, seed: int = 2013) -> Stream:
    """One stream; another seed is another draw of the same law."""
    rng = np.random.default_rng(seed)
    columns = {key: rng.integers(0, high, ROUNDS) for key, high in (("a", 6), ("b", 4), ("c", 4))}
    a, b, c = columns.values()
    time = np.arange(ROUNDS) / ROUNDS
    first = ((a >= 3) & (b >= 2)) | ((a < 2) & (c == 1))
    second = ((a < 3) & (b >= 2)) | (c == 3)
    rules = {
        "changed": np.where(time < 0.5, first, second),
        "turned over": first ^ (time >= 0.5),
        "slow rule": a >= 1 + np.floor(5 * time),
    }
    shifts = {
        "weak": np.zeros(ROUNDS),
        "slow rate": 2 * np.cos(2 * np.pi * time),
        "days": np.repeat(rng.normal(0, 1.5, ROUNDS // 1000), 1000),
    }
    if name in shifts:
        logit = -1.6 + 0.35 * (a - 2.5) + 0.5 * (b - 1.5) + 0.4 * (c - 1.5) + shifts[name]
        labels = rng.random(ROUNDS) < 1 / (1 + np.exp(-logit))
    else:
        wrong = rng.random(ROUNDS) < (0.3 if name == "noisy" else 0.1)
        labels = rules.get(name, first) ^ wrong
    return Stream(name, DECLARED, columns, labels.astype(np.uint8), True)


PAYMENT_ROUNDS = 300_000
_PAYMENTS: Mapping[str, Mapping[str, Any]] = {
    "amount": {"range": [1, 1000], "scale": "log"},
    "hour": {"range": [0, 24]},
    "abroad": {"values": [0, 1]},
    "age": {"range": [0, 3000]},
}


def payments(seed: int = 2013) -> Stream:
    """Few frauds: likely among large payments from abroad at night, seldom elsewhere.

    "Always 0" errs in .037 of the rounds, the rule that knows this in .024 of them.
    """
    rng = np.random.default_rng(seed)
    rounds = PAYMENT_ROUNDS
    columns = {
        "amount": np.exp(rng.normal(3.5, 1.2, rounds)).round(2),
        "hour": rng.integers(0, 24, rounds),
        "abroad": (rng.random(rounds) < 0.2).astype(np.int64),
        "age": rng.exponential(700, rounds).round(),
    }
    amount, hour, abroad, _ = columns.values()
    likely = (amount > 60) & (abroad == 1) & ((hour < 6) | (hour >= 20))
    share = np.where(likely, 0.75, 0.018)
    return Stream(
        "payments", _PAYMENTS, columns, (rng.random(rounds) < share).astype(np.uint8), True
    )
