"""The total weight of all decision trees whose leaves have more than two answers.

As in ``tree_weights.py``, floating-point weights only propose candidates. The answers of a leaf are
the labels and possibly one answer that is right for several labels.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.privacy.mechanisms.tree_weights import (
    Floats,
    Sample,
    TreeWeights,
    log_sum,
    log_sums,
)

# Pairs of questions per block: its arrays fit into the cache.
_PAIRS: Final = 1 << 15

Counts = Sequence[Any]
"""The counts for each answer, and last for all examples, at one node or at each of many."""


class LabelWeights(TreeWeights):
    """Logarithms of the weights of each answer and of each question with its subtrees."""

    def log_options(self, sample: Sample, depth: int) -> Floats:
        answers = len(sample.counts)
        leaf = -self._eta * np.array([sample.errors(answer) for answer in range(answers)])
        if depth == 0 or not self._count:
            return np.asarray(leaf - math.log(answers))
        weights = self._questions(sample, depth)
        return np.concatenate([leaf - math.log(2 * answers), weights - math.log(2 * len(weights))])

    def _questions(self, sample: Sample, depth: int) -> Floats:
        if depth == 1:
            return self._one_question(sample)
        if depth == 2:
            return self._pairs(sample)
        return np.array(
            [
                sum(
                    log_sum(self.log_options(part, depth - 1))
                    for part in self.parts(sample, question)
                )
                for question in range(self._count)
            ]
        )

    def _one_question(self, sample: Sample) -> Floats:
        holds = self._holding(sample.cells, np.float64)[:, self._second]
        inside = _with_all([row @ holds for row in sample.counts], sample)
        return self._answered(inside) + self._answered(_rest(_whole(sample), inside))

    def _pairs(self, sample: Sample) -> Floats:
        """Return the weight of each first question with at most one more on either side."""
        holds = self._holding(sample.cells, np.float64)
        second = holds[:, self._second]
        single = _with_all([row @ second for row in sample.counts], sample)
        every, weights = _whole(sample), np.empty(self._count)
        step = max(1, _PAIRS // second.shape[1])
        for start in range(0, self._count, step):
            some = holds[:, start : start + step]
            both = _with_all([_product(row, some, second) for row in sample.counts], sample)
            inside = _with_all([row @ some for row in sample.counts], sample)
            weights[start : start + step] = self._nodes_below(both, inside) + self._nodes_below(
                _rest(single, both), _rest(every, inside)
            )
        return weights

    @property
    def _second(self) -> Any:
        """Return the questions that a node below the root may ask."""
        return slice(None) if self._below_root is None else self._below_root

    def _nodes_below(self, question: Counts, nodes: Counts) -> Floats:
        """Return the weights of a leaf, or of one last question, at each of several nodes."""
        outside = _rest([row[:, None] for row in nodes], question)
        both = self._answered(question) + self._answered(outside)
        questions = log_sums(both) - math.log(both.shape[-1])
        return np.asarray(np.logaddexp(self._answered(nodes), questions) - math.log(2))

    def _answered(self, counts: Counts) -> Floats:
        """Return the average over all answers of exp(-eta * errors)."""
        *right, every = counts
        most = right[0]
        for row in right[1:]:
            most = np.maximum(most, row)
        sums = np.zeros(np.shape(most))
        for row in right:
            sums += np.exp(self._eta * (row - most))
        return np.asarray(np.log(sums) - self._eta * (every - most) - math.log(len(right)))


def _product(row: Floats, first: NDArray[Any], second: NDArray[Any]) -> Floats:
    """Count the examples for which both questions hold; few records satisfy either."""
    there = np.flatnonzero(row)
    return np.asarray((first[there] * row[there, None]).T @ second[there])


def _with_all(right: list[Any], sample: Sample) -> Counts:
    return [*right, sum(right[1 : sample.labels], right[0])]


def _whole(sample: Sample) -> Counts:
    return _with_all([row.sum() for row in sample.counts], sample)


def _rest(every: Counts, some: Counts) -> Counts:
    return [row - part for row, part in zip(every, some, strict=True)]
