"""Points and sparse sets, over integers and over any keys."""

from itertools import islice
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.sparse_sets import KeySets, Points, SparseSets
from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.hypotheses.support import FiniteSupport, support_of
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Tally


@pytest.mark.parametrize("k", [1, 2, 7, 1000])
def test_the_dimension_of_sparse_sets_is_their_size(k: int) -> None:
    concepts = SparseSets(k)
    assert (concepts.littlestone_dimension, concepts.vc_dimension) == (k, k)
    assert concepts.size is None and concepts.domain.size is None


def test_points_have_dimension_one() -> None:
    for concepts in (Points(), Points(1), Points(10**9)):
        assert (concepts.littlestone_dimension, concepts.vc_dimension) == (1, 1)
    assert Points(5).size == 6
    assert Points(5).fewest_mistakes({0: (1, 4), 3: (0, 2), 4: (7, 0)}) == 3


def test_unbounded_concepts_are_listed_without_repeats() -> None:
    first = list(islice(SparseSets(2).concepts(), 50))
    assert len(set(first)) == 50
    assert [h.sorted_positives() for h in first[:5]] == [[], [0], [1], [0, 1], [2]]


def test_mistakes_over_any_keys_need_no_scan() -> None:
    space = SparseSets(2).version_space().restrict("a", 1).restrict("b", 0)
    found = list(islice(space.mistakes_of(FiniteSupport.on("b", "c")), 4))
    assert found == [("a", 1), ("b", 0), ("c", 0), (2, 1)]
    full = space.restrict("c", 1)
    assert list(full.mistakes_of(FiniteSupport.on("a", "c"))) == []
    assert list(full.mistakes_of(FiniteSupport.on("a"))) == [("c", 1)]
    vote = MajorityVote([FiniteSupport.on("b"), FiniteSupport.on("b", "d"), FiniteSupport.on()])
    assert list(full.mistakes_of(vote)) == [("a", 1), ("c", 1), ("b", 0)]


def test_a_hypothesis_that_cannot_be_searched_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="1 on finitely many known keys, got ThresholdHypothesis"):
        next(Points().version_space().mistakes_of(ThresholdHypothesis(5, 2)))


def test_a_million_negatives_are_cheap() -> None:
    space = Points().version_space()
    for x in range(100_000):
        space = space.restrict(x, 0)
    assert space.hardest_mistake(space.standard_optimal()) == (100_000, 1)
    assert space.restrict(7, 1).is_empty and not space.restrict("new", 1).is_empty


def test_known_positives_make_the_negatives_irrelevant() -> None:
    start = Points().version_space()
    assert start.restrict("b", 0).restrict("a", 1) == start.restrict("a", 1)
    assert start.restrict("a", 1).restrict("b", 1) == start.restrict("c", 1).restrict("c", 0)


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, "2"])
def test_bad_sizes_are_refused(bad: Any) -> None:
    for build in (SparseSets, lambda n: SparseSets(1, n), Points):
        with pytest.raises(ValueError, match="must be"):
            build(bad)


def test_bad_keys_and_labels_change_nothing() -> None:
    space = Points().version_space()
    for x, y in [([], 0), (float("nan"), 0), ({}, 1), ("a", 2)]:
        with pytest.raises(ValueError, match="must be"):
            space.restrict(x, y)
    assert space == Points().version_space()
    with pytest.raises(ValueError, match="hashable"):
        FiniteSupport.on("a")([])


def test_blocks_of_integers_are_answered_at_once() -> None:
    xs = np.array([0, 5, 7, 2**40, -3])
    for keys in ([5], [5, "a", 2**80, 2.5], list(range(4, 30)), [5.0, 2**40]):
        rule = FiniteSupport.on(*keys)
        assert rule.many(xs).tolist() == [rule(int(x)) for x in xs]
    assert FiniteSupport.on(-1).many(np.array([255, 1], dtype=np.uint8)).tolist() == [0, 0]


def test_rows_of_an_array_are_tuples() -> None:
    rule = FiniteSupport.on((1, 0))
    assert rule.many(np.array([[1, 0], [0, 1]])).tolist() == [1, 0]


def test_disagreements_with_other_kinds() -> None:
    rule = FiniteSupport.on(2)
    assert rule.disagreement(TableHypothesis.from_labels([0, 0, 1, 1])) == 3
    assert rule.disagreement(ThresholdHypothesis(3, 2)) is None
    jury = [FiniteSupport.on("a", 2), FiniteSupport.on("a"), FiniteSupport.on(2)]
    assert rule.disagreement(MajorityVote(jury)) == "a"
    assert support_of(MajorityVote(jury), Points().domain) == {"a", 2}


@pytest.mark.parametrize(
    "dimension",
    ["littlestone_dimension", "vc_dimension", "dual_littlestone_dimension", "dual_vc_dimension"],
)
def test_all_finite_sets_of_keys_have_no_dimension(dimension: str) -> None:
    with pytest.raises(ValueError, match=r"infinite; SparseSets\(k\)"):
        getattr(KeySets(), dimension)


def test_the_best_set_of_keys_has_each_where_it_came_more_often() -> None:
    tally: Tally = {"a": (3, 5), "b": (2, 0), ("c", 1): (4, 4)}
    assert KeySets().fewest_mistakes(tally) == 3 + 0 + 4
    assert KeySets().tracker().observe("a", 1)
    assert (
        FiniteSupport.on() == next(KeySets().concepts()) == KeySets().version_space().consistent()
    )
