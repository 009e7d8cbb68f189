"""Trees with several labels are drawn from the exact law, with one answer more or without."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.chance import fits, is_told_apart

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.schema import LabelledSchema, Schema
from littlestone.privacy.mechanisms import label_weights, tree_selection
from littlestone.privacy.mechanisms.label_weights import LabelWeights
from littlestone.privacy.mechanisms.tree_selection import TreeSelection
from littlestone.privacy.mechanisms.tree_weights import Sample, log_sum
from littlestone.randomness import Randomness, seeded

FIELDS = Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y", "z"]}}).fields
ETA = 0.5

Row = tuple[int, int, int]
rows_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40
)


def trees_over(depth: int, labels: int = 3) -> DecisionTrees:
    return DecisionTrees(LabelledSchema(FIELDS, tuple(range(labels))), depth)


CONDITIONS = trees_over(1).conditions


def trees(depth: int, answers: int) -> Iterator[tuple[Node, Fraction]]:
    """Every tree with its prior, by the definition."""
    for label in range(answers):
        yield label, Fraction(1, (2 if depth else 1) * answers)
    if depth:
        below = list(trees(depth - 1, answers))
        for condition in CONDITIONS:
            for holds, first in below:
                for fails, second in below:
                    yield (condition, holds, fails), first * second / (2 * len(CONDITIONS))


def last(cells: tuple[int, ...]) -> int:
    """What one more answer stands for."""
    return 2 if cells[0] else cells[1]


def label_of(node: Node, cells: tuple[int, ...]) -> int:
    while isinstance(node, tuple):
        (number, low, high), holds, fails = node
        node = holds if low <= cells[number] <= high else fails
    return last(cells) if node == 3 else node


def errors(node: Node, rows: list[Row]) -> int:
    return sum(n for row, n in Counter(rows).items() if label_of(node, row[:2]) != row[2])


def sample_of(rows: list[Row], *, one_more: bool) -> Sample:
    tally: dict[Hashable, list[int]] = {row[:2]: [0, 0, 0] for row in rows}
    for first, second, label in rows:
        tally[first, second][label] += 1
    sample = Sample.of(tally, 3)
    if not one_more:
        return sample
    right = [counts[last(cells)] for cells, counts in tally.items()]  # type: ignore[arg-type]
    return Sample(sample.cells, np.vstack([sample.counts, right]), 3)


def test_errors_are_counted_once_for_each_example() -> None:
    sample = sample_of([(0, 1, 1), (0, 1, 1), (1, 0, 0), (2, 2, 2)], one_more=True)
    assert sample.size == 4
    assert [sample.errors(answer) for answer in range(4)] == [3, 2, 3, 1]
    assert sample.where(sample.cells[:, 0] == 0).errors(3) == 0


@given(rows=rows_of, depth=st.integers(0, 2), one_more=st.booleans())
@settings(max_examples=20)
def test_the_total_is_that_of_all_trees(rows: list[Row], depth: int, one_more: bool) -> None:
    answers = 3 + one_more
    if depth == 2:  # all 48,000 trees take too long: by the recursion that depth 1 was tested for
        total = _by_recursion(rows, depth, answers)
    else:
        total = math.log(
            sum(float(p) * math.exp(-ETA * errors(node, rows)) for node, p in trees(depth, answers))
        )
    weights = LabelWeights(trees_over(2, answers), ETA)
    found = log_sum(weights.log_options(sample_of(rows, one_more=one_more), depth))
    assert found == pytest.approx(total, abs=1e-11)


def _by_recursion(rows: list[Row], depth: int, answers: int) -> float:
    """W_d as tree_selection.md defines it."""
    leaf = np.logaddexp.reduce([-ETA * errors(k, rows) for k in range(answers)])
    leaf -= math.log(answers)
    if not depth:
        return float(leaf)
    asked = []
    for number, low, high in CONDITIONS:
        inside = [row for row in rows if low <= row[number] <= high]
        outside = [row for row in rows if not low <= row[number] <= high]
        parts = (_by_recursion(part, depth - 1, answers) for part in (inside, outside))
        asked.append(sum(parts))
    questions = np.logaddexp.reduce(asked) - math.log(len(asked))
    return float(np.logaddexp(leaf, questions) - math.log(2))


@pytest.mark.parametrize("at_once", [1, 7, 1 << 15])
def test_three_questions_deep_and_few_pairs_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_weights, "_PAIRS", at_once)
    rows = [(0, 0, 0), (0, 1, 2), (1, 1, 1), (2, 2, 1), (2, 2, 2), (2, 0, 0)]
    weights = LabelWeights(trees_over(3, 4), ETA)
    found = log_sum(weights.log_options(sample_of(rows, one_more=True), 3))
    assert found == pytest.approx(_by_recursion(rows, 3, 4), abs=1e-11)


def test_second_questions_from_a_subset() -> None:
    rows = [(0, 0, 0), (0, 1, 2), (1, 1, 1), (2, 2, 1), (2, 2, 2)]
    sample, below = sample_of(rows, one_more=False), np.array([1, 3])
    weights = LabelWeights(trees_over(2), ETA, below)
    total = 0.0
    for number in range(len(CONDITIONS)):
        sides = weights.parts(sample, number)
        total += math.exp(sum(log_sum(weights.log_options(side, 1)) for side in sides))
        assert len(weights.log_options(sides[0], 1)) == 3 + len(below)
    leaves = sum(math.exp(-ETA * errors(k, rows)) for k in range(3)) / 6
    assert log_sum(weights.log_options(sample, 2)) == pytest.approx(
        math.log(leaves + total / (2 * len(CONDITIONS))), abs=1e-11
    )
    assert weights.question(1, 1) == 3 and weights.question(1, 2) == 1


class Forced(tree_selection._Proposal):
    """Proposes one given tree, and says how likely that was."""

    def __init__(self, weights: LabelWeights, wanted: Node, answers: int) -> None:
        super().__init__(weights, seeded(0))
        self._wanted, self._answers = [wanted], answers

    def _choose(self, logs: NDArray[np.float64]) -> int:
        wanted = self._wanted.pop()
        option = wanted
        if isinstance(wanted, tuple):
            option = self._answers + CONDITIONS.index(wanted[0])
            self._wanted += [wanted[2], wanted[1]]
        assert isinstance(option, int)
        darts = self._darts(logs)
        self.proposed *= Fraction(darts[option], sum(darts))
        return option


@pytest.mark.parametrize("epsilon", [0.1, 8.0])
@pytest.mark.parametrize("one_more", [False, True])
def test_no_tree_is_proposed_too_seldom(epsilon: float, one_more: bool) -> None:
    rows = [(0, 0, 0)] * 300 + [(2, 1, 1)] * 300 + [(1, 2, 2)] * 200 + [(1, 0, 0)] * 3
    answers = 3 + one_more
    selection = TreeSelection(trees=trees_over(1, answers), epsilon=epsilon)
    weights = LabelWeights(selection.trees, float(selection.eta))
    sample = sample_of(rows, one_more=one_more)
    logs = np.array([log_sum(weights.log_options(sample, 1))])
    bound = selection._log_bound(logs, sample)
    largest, mass = -math.inf, Fraction(0)
    for node, prior in trees(1, answers):
        proposal = Forced(weights, node, answers)
        drawn, wrong = proposal.node(sample, 1)
        assert (drawn, wrong, proposal.prior) == (node, errors(node, rows), prior)
        mass += proposal.proposed
        accepted = math.log(prior / proposal.proposed) - float(selection.eta * wrong + bound)
        largest = max(largest, accepted)
    assert mass == 1
    assert -1e-6 < largest <= 0


def largest_log_ratio(rows: list[Row], eta: float) -> float:
    """The largest over all trees and all replacements of the first example."""
    everything = [(node, float(prior)) for node, prior in trees(1, 4)]

    def law(rows: list[Row]) -> NDArray[np.float64]:
        weights = np.array([p * math.exp(-eta * errors(node, rows)) for node, p in everything])
        return weights / weights.sum()

    before = law(rows)
    return max(
        float(np.abs(np.log(before) - np.log(law([(a, b, label), *rows[1:]]))).max())
        for a in range(3)
        for b in range(3)
        for label in range(3)
    )


def test_one_example_moves_no_probability_by_more_than_epsilon() -> None:
    rows = [(0, 0, 0)] * 4 + [(2, 1, 1)] * 4 + [(1, 2, 2)] * 4
    rate = float(TreeSelection(trees=trees_over(1, 4), epsilon=1.0).eta)
    assert 0.7 < largest_log_ratio(rows, eta=rate) <= 1 + 1e-9
    # The rate of a range of one would break it.
    assert largest_log_ratio(rows, eta=1.0) > 1.2


@pytest.mark.statistical
def test_frequencies_are_those_of_the_law(rng: Randomness) -> None:
    rows = [(0, 0, 0)] * 3 + [(2, 1, 1)] * 3 + [(1, 2, 2)] * 2
    turned = [(first, second, (label + 1) % 3) for first, second, label in rows]
    trees_of_one = trees_over(1, 4)

    def chances(rows: list[Row]) -> dict[DecisionTree, float]:
        weights: dict[DecisionTree, float] = {}
        for node, prior in trees(1, 4):
            tree = DecisionTree(trees_of_one.schema, node)
            weight = float(prior) * math.exp(-ETA * errors(node, rows))
            weights[tree] = weights.get(tree, 0) + weight
        total = sum(weights.values())
        return {tree: weight / total for tree, weight in weights.items()}

    expected = chances(rows)
    numbers = {tree: number for number, tree in enumerate(expected)}
    law = {numbers[tree]: share for tree, share in expected.items()}
    selection = TreeSelection(trees=trees_of_one, epsilon=1.0)

    def drawn(rows: list[Row]) -> list[int]:
        sample = sample_of(rows, one_more=True)
        return [numbers[selection.draw(sample, rng=rng)] for _ in range(5_000)]

    assert fits(drawn(rows), law)
    actual = {numbers[tree]: share for tree, share in chances(turned).items()}
    assert is_told_apart(drawn(turned), law, actual=actual)


def test_a_sample_of_other_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="a row for each of 4 labels, got 3"):
        TreeSelection(trees=trees_over(1, 4), epsilon=1.0).draw(
            sample_of([(0, 0, 0)], one_more=False), rng=seeded(1)
        )
