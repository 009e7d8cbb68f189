"""Counts of finite classes: exact, and refused early where they cannot be taken."""

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.sanitizers.queries import FiniteQueries, queries_of

CLASSES: list[ConceptClass] = [Thresholds(6), Intervals(5), Points(4), Conjunctions(2)]


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_counts_are_those_of_the_definition(concepts: ConceptClass) -> None:
    generator = np.random.default_rng(1)
    data = list(concepts.domain.sample(50, generator))
    queries = queries_of(concepts)
    expected = [sum(h(x) for x in data) for h in concepts.concepts()]
    assert queries.counts(queries.tally(data)).tolist() == expected


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_labelled_counts_are_numbers_of_errors(concepts: ConceptClass) -> None:
    generator = np.random.default_rng(2)
    points = concepts.domain.sample(50, generator)
    data = [(x, int(generator.integers(2))) for x in points]
    queries = queries_of(concepts, labelled=True)
    expected = [sum(h(x) != y for x, y in data) for h in concepts.concepts()]
    assert queries.counts(queries.tally(data)).tolist() == expected


@pytest.mark.parametrize("labelled", [False, True])
def test_rows_columns_and_products_agree(labelled: bool) -> None:
    queries = FiniteQueries(Intervals(4), labelled=labelled)
    rows = np.array([queries.row(number) for number in range(queries.concepts)])
    columns = np.array([queries.column(place) for place in range(queries.cells)])
    assert (columns == rows.T).all()
    generator = np.random.default_rng(3)
    cells, concepts = generator.random(queries.cells), generator.random(queries.concepts)
    assert np.allclose(queries.answers(cells), rows @ cells)
    assert np.allclose(queries.cells_answers(concepts), concepts @ rows)
    for number, concept in enumerate(Intervals(4).concepts()):
        assert (queries.indicator(concept) == rows[number]).all()
        assert queries.number_of(concept) == number


def test_cells_name_points_and_pairs() -> None:
    assert queries_of(Thresholds(3)).cell(2) == 2
    assert queries_of(Thresholds(3), labelled=True).cell(4) == (1, 1)


def test_a_hypothesis_outside_the_class_has_no_number() -> None:
    with pytest.raises(ValueError, match="hypothesis must be in"):
        queries_of(Thresholds(3)).number_of(next(Points(3).concepts()).__class__(frozenset({0})))


def test_large_and_unbounded_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="TreeSanitizer"):
        FiniteQueries(Thresholds(2**20))
    with pytest.raises(ValueError, match="HistogramSanitizer"):
        FiniteQueries(Points())


def test_bad_examples_are_named() -> None:
    queries = queries_of(FiniteClass([[0, 1]]))
    with pytest.raises(ValueError, match="got x=5"):
        queries.tally([0, 5])
    with pytest.raises(ValueError, match="must not be empty"):
        queries.tally([])
    labelled = queries_of(FiniteClass([[0, 1]]), labelled=True)
    with pytest.raises(ValueError, match="pair"):
        labelled.tally([0])
    with pytest.raises(ValueError, match="label=2"):
        labelled.tally([(0, 2)])
