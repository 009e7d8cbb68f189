"""Trees are drawn from the exact law: the proposal is never too light, for any tree at all."""

import itertools
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
from littlestone.concepts.schema import Schema
from littlestone.privacy.mechanisms import tree_selection, tree_weights
from littlestone.privacy.mechanisms.noise.exact import exp_bounds
from littlestone.privacy.mechanisms.tree_selection import TreeSelection
from littlestone.privacy.mechanisms.tree_weights import Counts, Sample, TreeWeights, log_sum
from littlestone.randomness import Randomness, seeded

SCHEMA = Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y", "z"]}})
TREES = {depth: DecisionTrees(SCHEMA, depth) for depth in range(4)}
CONDITIONS = TREES[1].conditions
ETA = 0.5

samples = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40
)


def trees(depth: int) -> Iterator[tuple[Node, Fraction]]:
    """Every tree with its prior, by the definition."""
    for label in (0, 1):
        yield label, Fraction(1, 4 if depth else 2)
    if depth:
        below = list(trees(depth - 1))
        for condition in CONDITIONS:
            for holds, first in below:
                for fails, second in below:
                    yield (condition, holds, fails), first * second / (2 * len(CONDITIONS))


def label_of(node: Node, cells: tuple[int, ...]) -> int:
    while isinstance(node, tuple):
        (number, low, high), holds, fails = node
        node = holds if low <= cells[number] <= high else fails
    return node


def errors(node: Node, rows: list[tuple[int, int, int]] | Counter[tuple[int, int, int]]) -> int:
    return sum(n for row, n in Counter(rows).items() if label_of(node, row[:2]) != row[2])


def sample_of(rows: list[tuple[int, int, int]]) -> Sample:
    tally = {row[:2]: [0, 0] for row in rows}
    for first, second, label in rows:
        tally[first, second][label] += 1
    return Sample.of({cells: (zeros, ones) for cells, (zeros, ones) in tally.items()})


def total_by_definition(weights: TreeWeights, sample: Sample, depth: int) -> float:
    """W_d by its recursion, question by question."""
    leaf = float(weights._leaf(Counts(sample.zeros, sample.ones)))
    if not depth:
        return leaf
    asked = -math.inf
    for number in range(len(CONDITIONS)):
        inside, outside = weights.parts(sample, number)
        both = total_by_definition(weights, inside, depth - 1) + total_by_definition(
            weights, outside, depth - 1
        )
        asked = np.logaddexp(asked, both)
    return float(np.logaddexp(leaf, asked - math.log(len(CONDITIONS))) - math.log(2))


class Forced(tree_selection._Proposal):
    """Proposes one given tree, and says how likely that was."""

    def __init__(self, weights: TreeWeights, wanted: Node) -> None:
        super().__init__(weights, seeded(0))
        self._wanted = [wanted]

    def _choose(self, logs: NDArray[np.float64]) -> int:
        wanted = self._wanted.pop()
        option = wanted if not isinstance(wanted, tuple) else 2 + CONDITIONS.index(wanted[0])
        if isinstance(wanted, tuple):
            self._wanted += [wanted[2], wanted[1]]
        darts = self._darts(logs)
        self.proposed *= Fraction(darts[option], sum(darts))
        return option


@given(rows=samples, depth=st.integers(0, 2))
@settings(max_examples=20)
def test_the_total_is_that_of_all_trees(rows: list[tuple[int, int, int]], depth: int) -> None:
    weights = TreeWeights(TREES[3], ETA)
    total = sum(float(prior) * math.exp(-ETA * errors(node, rows)) for node, prior in trees(depth))
    assert log_sum(weights.log_options(sample_of(rows), depth)) == pytest.approx(
        math.log(total), abs=1e-11
    )


@given(rows=samples)
@settings(max_examples=8)
def test_three_questions_deep_the_recursion_agrees(rows: list[tuple[int, int, int]]) -> None:
    weights, sample = TreeWeights(TREES[3], ETA), sample_of(rows)
    assert log_sum(weights.log_options(sample, 3)) == pytest.approx(
        total_by_definition(weights, sample, 3), abs=1e-11
    )


@pytest.mark.parametrize("tally", [{(0, 0): (3, 1)}, {(0, 0): (3, 1), (2, 0): (0, 2)}])
@pytest.mark.parametrize("at_once", [1, 3, 1 << 15])
def test_questions_that_hold_nowhere_and_few_at_once(
    tally: dict[Hashable, tuple[int, int]], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_weights, "_TRIPLES", at_once)
    trees = DecisionTrees(Schema.from_mapping({n: {"grid": [0, 1]} for n in "ab"}), 3)
    weights, sample = TreeWeights(trees, ETA), Sample.of(tally)

    def total(part: Sample, depth: int) -> float:
        leaf = float(weights._leaf(Counts(part.zeros, part.ones)))
        if not depth:
            return leaf
        sides = [weights.parts(part, number) for number in range(len(trees.conditions))]
        asked = log_sum(np.array([sum(total(side, depth - 1) for side in both) for both in sides]))
        return float(np.logaddexp(leaf, asked - math.log(len(sides))) - math.log(2))

    found = log_sum(weights.log_options(sample, 3))
    assert found == pytest.approx(total(sample, 3), abs=1e-11)


OTHERS = np.array([0, 3, 3, 400, 803])
NONE = np.empty(0, dtype=np.int64)


class ForcedOther(tree_selection._Proposal):
    """Proposes a tree, or one of the others with given errors, and says how likely that was."""

    def __init__(self, weights: TreeWeights, option: int) -> None:
        super().__init__(weights, seeded(0))
        self._option = option

    def _choose(self, logs: NDArray[np.float64]) -> int:
        darts = self._darts(logs)
        self.proposed *= Fraction(darts[self._option], sum(darts))
        return self._option


def heaviest_acceptance(
    rows: list[tuple[int, int, int]], epsilon: float, errors_of_others: NDArray[np.int64] = NONE
) -> float:
    """The largest logarithm of an acceptance probability over all 2,422 trees and the others."""
    selection = TreeSelection(trees=TREES[2], epsilon=epsilon)
    weights, sample = TreeWeights(TREES[2], float(selection.eta)), sample_of(rows)
    among = tree_selection._Others.of(errors_of_others)
    logs = selection._log_choices(log_sum(weights.log_options(sample, 2)), among)
    bound = selection._log_bound(logs, sample)

    def acceptance(prior: Fraction, proposed: Fraction, wrong: int) -> float:
        return math.log(prior / proposed) - float(selection.eta * wrong + bound)

    first = ForcedOther(weights, 0)
    assert first.other(logs, among) == (None, 0)
    largest, mass, counted = -math.inf, Fraction(0), Counter(rows)
    for node, prior in trees(2):
        proposal = Forced(weights, node)
        drawn, wrong = proposal.node(sample, 2)
        assert (drawn, wrong, proposal.prior) == (node, errors(node, counted), prior)
        proposed = first.proposed * proposal.proposed
        mass += proposed
        largest = max(largest, acceptance(first.prior * prior, proposed, wrong))
    for option, (level, count) in enumerate(zip(among.levels, among.counts, strict=True), start=1):
        other = ForcedOther(weights, option)
        number, wrong = other.other(logs, among)
        assert number is not None and wrong == level == errors_of_others[number]
        assert other.prior == Fraction(1, 5 * among.size)
        mass += other.proposed * int(count)
        largest = max(largest, acceptance(other.prior, other.proposed, wrong))
    assert mass == 1
    return largest


SKEWED = [(0, 0, 0)] * 400 + [(2, 1, 1)] * 400 + [(1, 2, 0)] * 3


@pytest.mark.parametrize(
    ("epsilon", "others"),
    [
        pytest.param(0.1, NONE, marks=pytest.mark.slow),
        pytest.param(1.0, OTHERS, marks=pytest.mark.slow),
        (8.0, OTHERS),
    ],
)
def test_no_candidate_is_proposed_too_seldom(epsilon: float, others: NDArray[np.int64]) -> None:
    # At epsilon = 8 some trees weigh e^-3200: less than any float. They are proposed all the same.
    assert -1e-6 < heaviest_acceptance(SKEWED, epsilon, others) <= 0


def test_rounding_down_would_lose_the_light_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded_down(logs: NDArray[np.float64]) -> list[int]:
        return [int(math.ldexp(share, 128)) for share in np.exp(logs - logs.max()).tolist()]

    monkeypatch.setattr(tree_selection._Proposal, "_darts", staticmethod(rounded_down))
    with pytest.raises(ZeroDivisionError):
        heaviest_acceptance(SKEWED, 8.0)


def largest_log_ratio(rows: list[tuple[int, int, int]], eta: float, others: list[Node]) -> float:
    """The largest over all candidates and all replacements of the first example."""
    everything = [(node, 0.8 * float(prior)) for node, prior in trees(2)]
    everything += [(node, 0.2 / len(others)) for node in others]
    before = law(everything, rows, eta)
    worst = 0.0
    for cells in ((0, 0), (1, 2), (2, 1)):
        for label in (0, 1):
            after = law(everything, [(*cells, label), *rows[1:]], eta)
            worst = max(worst, float(np.abs(np.log(before) - np.log(after)).max()))
    return worst


def law(
    everything: list[tuple[Node, float]], rows: list[tuple[int, int, int]], eta: float
) -> NDArray[np.float64]:
    weights = np.array([p * math.exp(-eta * errors(node, rows)) for node, p in everything])
    return weights / weights.sum()


# Rules that no tree of depth 2 is, given by a tree that is deeper.
DEEP: list[Node] = [
    ((0, 1, 2), ((1, 0, 0), 1, ((0, 2, 2), 0, 1)), ((1, 1, 1), ((0, 0, 0), 1, 0), 0)),
    ((0, 2, 2), ((1, 1, 1), 1, ((1, 2, 2), 0, 1)), 0),
]


def test_one_example_moves_no_probability_by_more_than_epsilon() -> None:
    rows = [(0, 0, 0)] * 6 + [(2, 1, 1)] * 6
    rate = float(TreeSelection(trees=TREES[2], epsilon=1.0).eta)
    for others in ([], DEEP):
        assert 0.7 < largest_log_ratio(rows, eta=rate, others=others) <= 1 + 1e-9
        # The rate of a range of one would break it.
        assert largest_log_ratio(rows, eta=1.0, others=others) > 1.2


@pytest.mark.parametrize(
    ("ratio", "exponent"),
    [(Fraction(2), Fraction(3, 2)), (Fraction(1, 50), Fraction(-7, 2)), (Fraction(1), Fraction(0))],
)
def test_scaled_exponentials_are_enclosed(ratio: Fraction, exponent: Fraction) -> None:
    low, high = tree_selection._Scaled(ratio, exponent)(200)
    assert high - low <= 8
    # One more independent route: multiply by exp(-9) and compare with a direct enclosure.
    direct = exp_bounds(exponent + 9, 400)
    shrunk = exp_bounds(Fraction(9), 400)
    assert low * shrunk[0] * ratio.denominator <= ratio.numerator * direct[1] << 200
    assert high * shrunk[1] * ratio.denominator >= ratio.numerator * direct[0] << 200


@pytest.mark.statistical
def test_frequencies_are_those_of_the_law(rng: Randomness) -> None:
    rows = [(0, 0, 0)] * 3 + [(2, 1, 1)] * 3 + [(1, 2, 0)]
    others = np.array([errors(node, rows) for node in DEEP] + [1])
    flipped = [(first, second, 1 - label) for first, second, label in rows]

    def chances(
        rows: list[tuple[int, int, int]], others: NDArray[np.int64]
    ) -> dict[DecisionTree | int, float]:
        weights: Counter[DecisionTree | int] = Counter()
        for node, prior in trees(1):
            weight = 0.8 * float(prior) * math.exp(-ETA * errors(node, rows))
            weights[DecisionTree(SCHEMA, node)] += weight  # type: ignore[assignment]
        for number, wrong in enumerate(others):
            weights[number] = 0.2 / len(others) * math.exp(-ETA * wrong)  # type: ignore[assignment]
        return {drawn: weight / weights.total() for drawn, weight in weights.items()}

    expected = chances(rows, others)
    numbers = {drawn: number for number, drawn in enumerate(expected)}
    law = {numbers[drawn]: share for drawn, share in expected.items()}
    selection = TreeSelection(trees=TREES[1], epsilon=1.0)

    def drawn(rows: list[tuple[int, int, int]], others: NDArray[np.int64]) -> list[int]:
        sample = sample_of(rows)
        return [numbers[selection.draw_among(sample, others, rng=rng)] for _ in range(5_000)]

    assert fits(drawn(rows, others), law)
    for wrong in ((flipped, others), (rows, others[::-1] * 4)):
        actual = {numbers[known]: share for known, share in chances(*wrong).items()}
        assert is_told_apart(drawn(*wrong), law, actual=actual)


def test_without_others_a_tree_is_drawn() -> None:
    drawn = TreeSelection(trees=TREES[1], epsilon=1.0).draw(sample_of(SKEWED), rng=seeded(1))
    assert isinstance(drawn, DecisionTree)
    with pytest.raises(ValueError, match="others must have at most"):
        TreeSelection(trees=TREES[1], epsilon=1.0).draw_among(
            sample_of(SKEWED), np.zeros((1 << 20) + 1, dtype=np.int64), rng=seeded(1)
        )


def test_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="depth must be at most 3, got depth=4"):
        DecisionTrees(SCHEMA, 4)
    with pytest.raises(ValueError, match="epsilon"):
        TreeSelection(trees=TREES[1], epsilon=0.0)


def restricted(below: list[int]) -> Iterator[tuple[Node, Fraction]]:
    """Every tree of depth two whose second questions are these, with its prior."""
    for label in (0, 1):
        yield label, Fraction(1, 4)
    later: list[tuple[Node, Fraction]] = [(label, Fraction(1, 4)) for label in (0, 1)]
    for number in below:
        for yes, no in itertools.product((0, 1), repeat=2):
            later.append(((CONDITIONS[number], yes, no), Fraction(1, 8 * len(below))))
    for condition in CONDITIONS:
        for (holds, first), (fails, second) in itertools.product(later, repeat=2):
            yield (condition, holds, fails), first * second / (2 * len(CONDITIONS))


@given(rows=samples, below=st.sets(st.integers(0, len(CONDITIONS) - 1), min_size=1))
@settings(max_examples=20)
def test_second_questions_from_a_subset_have_the_weights_of_these_trees(
    rows: list[tuple[int, int, int]], below: set[int]
) -> None:
    some = sorted(below)
    weights = TreeWeights(TREES[2], ETA, np.array(some))
    every = list(restricted(some))
    assert sum(prior for _, prior in every) == 1
    total = sum(float(prior) * math.exp(-ETA * errors(node, rows)) for node, prior in every)
    for at_once in (1 << 22, 2):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tree_weights, "_ANSWERS", at_once)
            logs = weights.log_options(sample_of(rows), 2)
        assert log_sum(logs) == pytest.approx(math.log(total), abs=1e-11)


def test_over_many_fields_a_draw_asks_few_second_questions_and_the_last_one() -> None:
    schema = Schema.from_mapping({f"x{i}": {"grid": list(range(12))} for i in range(100)})
    selection = TreeSelection(trees=DecisionTrees(schema, 2), epsilon=1.0)
    below = selection._second_questions(seeded(1))
    assert below is not None and len(below) == (1 << 18) // 1200 == len(set(below.tolist()))
    other = selection._second_questions(seeded(2))
    assert other is not None and below.max() == 1199 and not np.array_equal(below, other)
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 13, size=(400, 100))
    tally: dict[Hashable, tuple[int, int]] = {
        tuple(row): (int(row[7] < 6), int(row[7] >= 6)) for row in cells.tolist()
    }
    drawn = selection.draw(Sample.of(tally), rng=seeded(4))
    assert (drawn.many(cells) != (cells[:, 7] >= 6)).mean() < 0.1
    few = TreeSelection(trees=TREES[2], epsilon=1.0)
    assert few._second_questions(seeded(1)) is None


def test_a_draw_with_a_subset_is_private_and_one_that_the_batch_chose_is_not() -> None:
    """All trees of a tiny class, by their exact weights, for every subset that coins may choose."""
    rows = [(0, 0, 1)] * 6 + [(2, 1, 0)] * 5
    other = [(0, 0, 0), *rows[1:]]

    def law(rows: list[tuple[int, int, int]], below: list[int]) -> dict[Node, float]:
        weights = {
            node: float(prior) * math.exp(-ETA * errors(node, rows))
            for node, prior in restricted(below)
        }
        total = sum(weights.values())
        return {node: weight / total for node, weight in weights.items()}

    def largest(ours: dict[Node, float], theirs: dict[Node, float]) -> float:
        return max(abs(math.log(ours[node] / theirs[node])) for node in ours.keys() & theirs.keys())

    for below in ([0], [1, 3], [0, 2, 3]):
        assert largest(law(rows, below), law(other, below)) <= 2 * ETA + 1e-12
    assert law(rows, [0]).keys() != law(other, [1]).keys()  # a tree that only one of them can draw


@pytest.mark.parametrize("labels", [2, 3])
def test_a_sample_of_rows_is_the_one_of_their_tally(labels: int) -> None:
    generator = np.random.default_rng(labels)
    widths = [3, 1, 300]
    rows = np.column_stack([generator.integers(width, size=500) for width in widths])
    said = generator.integers(-1, labels, size=500)  # -1 for a round without an example
    tally: dict[Hashable, list[int]] = {}
    for row, label in zip(rows.tolist(), said.tolist(), strict=True):
        counts = tally.setdefault(tuple(row), [0] * labels)
        if label >= 0:
            counts[label] += 1
    plain = Sample.of(dict(sorted(tally.items())), labels)
    fast = Sample.of_rows(np.column_stack([rows, said]), widths, labels)
    assert np.array_equal(plain.cells, fast.cells) and np.array_equal(plain.counts, fast.counts)
