"""Tables with more than two labels beside the game that their dimension solves."""

import pickle
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, product
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.choose.catalogue import ADVERSARIES
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.multiclass import MulticlassSpace, MulticlassTable
from littlestone.concepts.hypotheses.tables import LabelTable
from littlestone.concepts.protocols import Hypothesis
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.replay import Replay
from littlestone.game.play import play
from littlestone.learners.forms import canonical_form, from_form
from littlestone.learners.online.standard_optimal import StandardOptimal, StandardOptimalState
from littlestone.randomness import Randomness, seeded

LABELS, POINTS = 3, 3
FORCING = ("mistake-forcing", "shattered-tree", "frequent-killer", "spread-mistakes")
Rows = frozenset[tuple[int, ...]]
tables = st.lists(
    st.tuples(*[st.integers(0, LABELS - 1)] * POINTS), min_size=1, max_size=9, unique=True
)


@cache
def forced(rows: Rows) -> int:
    """The mistakes that an adversary forces on the best learner: the game, not the tree.

    It may repeat what is known, so only points on which the rows differ are worth asking.
    """
    asked = [x for x in range(POINTS) if len({row[x] for row in rows}) > 1]
    return max(
        (min(answered(rows, x, predicted) for predicted in range(LABELS)) for x in asked), default=0
    )


def answered(rows: Rows, x: int, predicted: int) -> int:
    labels = {row[x] for row in rows}
    return max((label != predicted) + forced(left(rows, x, label)) for label in labels)


def left(rows: Rows, x: int, label: int) -> Rows:
    return frozenset(row for row in rows if row[x] == label)


@given(rows=tables)
def test_the_dimension_is_what_an_adversary_can_force(rows: list[tuple[int, ...]]) -> None:
    assert MulticlassTable(rows).littlestone_dimension == forced(frozenset(rows))


def most_mistakes(state: StandardOptimalState) -> int:
    """Of the learner, over all realizable streams."""
    worst = 0
    for x, y in product(range(POINTS), range(LABELS)):
        after = state.after(x, y)
        if not after.failed and after is not state:
            worst = max(worst, (state.hypothesis(x) != y) + most_mistakes(after))
    return worst


@given(rows=tables)
def test_the_standard_optimal_algorithm_errs_exactly_that_often(
    rows: list[tuple[int, ...]],
) -> None:
    learner = StandardOptimal(MulticlassTable(rows, label_count=LABELS))
    assert most_mistakes(learner.start()) == learner.mistake_bound


@given(rows=tables, name=st.sampled_from(FORCING))
def test_a_game_ends_with_exactly_that_many_mistakes(
    rows: list[tuple[int, ...]], name: str
) -> None:
    table = MulticlassTable(rows)
    adversary = ADVERSARIES[name].build(table)
    for blocks in (False, True):
        found = play(StandardOptimal(table), adversary, rounds=60, rng=seeded(1), blocks=blocks)
        assert found.mistakes == table.littlestone_dimension
        assert found.fewest_mistakes == 0


@dataclass(frozen=True)
class FirstConcept:
    """A learner that publishes the first consistent concept."""

    concepts: MulticlassTable
    rounds: ClassVar[None] = None
    oblivious_only: ClassVar[bool] = False

    def start(self, *, rng: Randomness) -> "FirstConceptRun":
        return FirstConceptRun(self.concepts.version_space())


class FirstConceptRun:
    def __init__(self, space: MulticlassSpace) -> None:
        self._space = space

    @property
    def hypothesis(self) -> Hypothesis:
        return self._space.consistent()

    def observe(self, x: Any, y: int, /) -> None:
        self._space = self._space.restrict(x, y)


@given(rows=tables)
def test_another_learner_errs_at_least_that_often(rows: list[tuple[int, ...]]) -> None:
    table = MulticlassTable(rows)
    found = play(FirstConcept(table), MistakeForcing(table), rounds=30, rng=seeded(1), peek=True)
    assert found.mistakes >= table.littlestone_dimension


@given(
    rows=tables,
    examples=st.lists(
        st.tuples(st.integers(0, POINTS - 1), st.integers(0, LABELS - 1)), min_size=1, max_size=30
    ),
    blocks=st.booleans(),
)
def test_the_best_concept_in_hindsight_is_found(
    rows: list[tuple[int, ...]], examples: list[tuple[int, int]], blocks: bool
) -> None:
    table = MulticlassTable(rows, label_count=LABELS)
    adversary = Replay(table, examples)
    found = play(
        StandardOptimal(table), adversary, rounds=len(examples), rng=seeded(1), blocks=blocks
    )
    assert found.fewest_mistakes == min(sum(row[x] != y for x, y in examples) for row in rows)


def test_two_labels_are_the_finite_class() -> None:
    """On all 255 classes over three points."""
    cube = list(product((0, 1), repeat=POINTS))
    subsets = chain.from_iterable(combinations(cube, size) for size in range(1, len(cube) + 1))
    for rows in subsets:
        table, concepts = MulticlassTable(rows), FiniteClass(rows)
        assert table.littlestone_dimension == concepts.littlestone_dimension
        agree(table.version_space(), concepts.version_space(), 2)


def agree(mine: Any, theirs: Any, depth: int) -> None:
    """Of two version spaces: everything that a game asks them, down to this many examples."""
    assert (mine.members, mine.dimension) == (theirs.members, theirs.dimension)
    if mine.is_empty:
        return
    optimal, same = mine.standard_optimal(), theirs.standard_optimal()
    assert optimal.labels == tuple(same.labels)
    assert mine.consistent().labels == tuple(theirs.consistent().labels)
    assert list(mine.mistakes_of(optimal)) == list(theirs.mistakes_of(same))
    assert mine.hardest_mistake(optimal) == theirs.hardest_mistake(same)
    for x, y in product(range(POINTS), (0, 1)) if depth else ():
        agree(mine.restrict(x, y), theirs.restrict(x, y), depth - 1)


@given(rows=tables, guess=st.tuples(*[st.integers(0, LABELS - 1)] * POINTS))
def test_mistakes_are_the_possible_wrong_labels(
    rows: list[tuple[int, ...]], guess: tuple[int, ...]
) -> None:
    space = MulticlassTable(rows, label_count=LABELS).version_space()
    found = list(space.mistakes_of(LabelTable(guess, LABELS)))
    assert found == sorted(
        {(x, row[x]) for row in rows for x in range(POINTS)} - {*enumerate(guess)}
    )


def test_ties_go_to_the_smallest_label() -> None:
    assert MulticlassTable([[3], [1], [2]]).version_space().standard_optimal().labels == (1,)


def test_many_labels_at_one_point_are_one_mistake() -> None:
    assert MulticlassTable(np.arange(256)[:, None]).littlestone_dimension == 1


def test_the_last_of_all_labels_can_be_learned() -> None:
    table = MulticlassTable([[255], [0]])
    assert (
        play(StandardOptimal(table), MistakeForcing(table), rounds=9, rng=seeded(1)).mistakes == 1
    )


def test_many_concepts_need_no_deep_recursion() -> None:
    assert MulticlassTable(2 * np.eye(1500, dtype=int)).littlestone_dimension == 1


def test_what_is_left_bounds_the_mistakes_to_come() -> None:
    space = MulticlassTable([[0, 0], [1, 2], [2, 2], [1, 1]]).version_space()
    assert [space.dimension, space.restrict(0, 1).dimension] == [1, 1]
    assert space.restrict(0, 1).restrict(1, 0).dimension == -1
    with pytest.raises(ValueError, match="the version space is empty"):
        space.restrict(0, 1).restrict(1, 0).standard_optimal()


def test_labels_may_be_declared() -> None:
    read, declared = (
        MulticlassTable([[0, 1], [1, 1]]),
        MulticlassTable([[0, 1], [1, 1]], label_count=4),
    )
    assert (read.label_count, declared.label_count) == (2, 4)
    assert read != declared and declared.littlestone_dimension == 1
    assert declared.version_space().restrict(0, 3).is_empty
    with pytest.raises(ValueError, match="label must be from 0 to 3"):
        declared.version_space().restrict(0, 4)
    with pytest.raises(ValueError, match="label must be 0 or 1"):
        read.version_space().restrict(0, 2)
    with pytest.raises(ValueError, match=r"numbers from 0 to 1, got matrix\[0, 1\]=2"):
        MulticlassTable([[0, 2]], label_count=2)
    for count in (1, 257, 2.5):
        with pytest.raises(ValueError, match="label_count"):
            MulticlassTable([[0, 1]], label_count=count)  # type: ignore[arg-type]


def test_a_table_is_a_value() -> None:
    table = MulticlassTable([[2, 1], [0, 1], [2, 1]], label_count=5)
    assert table == MulticlassTable([[0, 1], [2, 1]], label_count=5) != MulticlassTable([[0, 1]])
    assert hash(table) == hash(pickle.loads(pickle.dumps(table)))
    assert from_form(canonical_form(table), MulticlassTable) == table


@pytest.mark.parametrize("matrix", [[], [1, 2], [[]], [[0], [1, 2]], [["a"]], [[0.5]], [[256]]])
def test_a_matrix_that_holds_no_labels_is_refused(matrix: object) -> None:
    with pytest.raises(ValueError, match="matrix must"):
        MulticlassTable(matrix)
