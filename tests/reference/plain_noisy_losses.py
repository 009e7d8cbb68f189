"""Noisy losses by batch as the proof writes them: dense matrices, rationals, one round at a time.

Slow, and without any of the tricks of ``learners/agnostic_finite``: what is asked is asked by the
definition, the totals are solved for in exact rationals, and each draw walks along the weights.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np


def skew_circulant(column: Sequence[int]) -> list[list[int]]:
    """Row i, column j: the entry i - j of the column, with a minus where it came round."""
    n = len(column)
    return [[column[i - j] if i >= j else -column[n + i - j] for j in range(n)] for i in range(n)]


def time_matrix(weights: Sequence[int]) -> list[list[int]]:
    """Lower triangular, one diagonal for each weight."""
    n = len(weights)
    return [[weights[i - j] if i >= j else 0 for j in range(n)] for i in range(n)]


def solved(matrix: Sequence[Sequence[int]], right: Sequence[Any]) -> list[Fraction]:
    """By elimination, exactly."""
    n = len(matrix)
    rows = [
        [*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, right, strict=True)
    ]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n] for row in rows]


def totals(
    asked: Sequence[Sequence[int]], noise: Sequence[Sequence[int]], weights: Sequence[int]
) -> list[list[Fraction]]:
    """The estimated total after each batch of one epoch, cell by cell."""
    mixing, cells = time_matrix(weights), range(len(asked[0]))
    found = []
    for cell in cells:
        released = [
            sum(w * q[cell] for w, q in zip(row, asked, strict=True)) + z[cell]
            for row, z in zip(mixing, noise, strict=True)
        ]
        terms = solved(mixing, released)
        found.append([sum(terms[: b + 1], Fraction(0)) for b in range(len(terms))])
    return [list(column) for column in zip(*found, strict=True)]


def totals_by_levels(
    asked: Sequence[Sequence[int]], noise: Sequence[Sequence[int]], weights: Sequence[int]
) -> list[list[Fraction]]:
    """The estimated total after each batch: by the digits of its number, an epoch for each."""
    epoch, found = len(weights) + 1, []
    for number in range(1, len(asked) + 1):
        total, size = [Fraction(0)] * len(asked[0]), 1
        while size <= number:
            ends = range(number - number % (size * epoch) + size, number + 1, size)
            terms = [
                [sum(parts) for parts in zip(*asked[end - size : end], strict=True)] for end in ends
            ]
            if terms:
                mixed = totals(terms, [noise[end - 1] for end in ends], weights[: len(terms)])
                total = [a + b for a, b in zip(total, mixed[-1], strict=True)]
            size *= epoch
        found.append(total)
    return found


def threshold_losses(column: Sequence[int], answers: Sequence[Any]) -> list[Fraction]:
    """Of 1[x >= k], k = 0 .. n, up to what they share: half of what is above less what is below."""
    at = solved(skew_circulant(column), answers)
    return [(sum(at[k:], Fraction(0)) - sum(at[:k], Fraction(0))) / 2 for k in range(len(at) + 1)]


def drawn(costs: Sequence[Any], rate: float, word: int) -> int:
    """The first position whose weights so far exceed the share of all of a word of 48 bits."""
    least = min(costs)
    weights = [math.exp(-rate * float(cost - least)) for cost in costs]
    height, at = word * 2.0**-48 * sum(weights), 0.0
    for position, weight in enumerate(weights):
        at += weight
        if height < at:
            return position
    return len(weights) - 1


def threshold_positions(
    n: int, xs: Sequence[int], ys: Sequence[int], *, column: Sequence[int], rate: float, batch: int,
    noise: np.ndarray, words: Sequence[int],
) -> list[int]:  # fmt: skip
    """The concepts of all rounds, for independent noise."""
    matrix, total, positions = skew_circulant(column), [Fraction(0)] * n, []
    for start in range(0, len(xs), batch):
        costs = threshold_losses(column, total)
        here = range(start, min(start + batch, len(xs)))
        positions += [drawn(costs, rate, int(words[t])) for t in here]
        if start + batch < len(xs):
            signed = [0] * n
            for t in here:
                signed[xs[t]] += -1 if ys[t] else 1
            asked = [sum(a * s for a, s in zip(row, signed, strict=True)) for row in matrix]
            z = noise[start // batch].tolist()
            total = [q + a + e for q, a, e in zip(total, asked, z, strict=True)]
    return positions
