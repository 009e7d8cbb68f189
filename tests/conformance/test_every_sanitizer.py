"""What every sanitizer owes: a recipe that is a value, honest numbers, early refusals."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.protocols import Sanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.randomness import Randomness, secure, seeded

LINE = Thresholds(9)
PLAIN = [1, 4, 4, 7] * 50
PAIRS = [(x, int(x > 2)) for x in PLAIN]


@dataclass(frozen=True)
class Case:
    build: Callable[[], Any]
    concepts: ConceptClass
    data: list[Any]
    outside: Any
    synthetic: bool = True


def fooling(concepts: ConceptClass = LINE, labelled: bool = False) -> FoolingSanitizer:
    return FoolingSanitizer.planned(
        concepts=concepts, size=200, epsilon=1.0, delta=1e-6, labelled=labelled
    )


def realizable(labelled: bool = False) -> RealizableSanitizer:
    return RealizableSanitizer.planned(
        concepts=LINE, size=200, epsilon=1.0, delta=1e-6, labelled=labelled
    )


CASES = {
    "fooling": Case(fooling, LINE, PLAIN, 9),
    "fooling-labelled": Case(lambda: fooling(labelled=True), LINE, PAIRS, (9, 0)),
    "fooling-cube": Case(
        lambda: fooling(Conjunctions(2)), Conjunctions(2), [(0, 1), (1, 1)] * 100, (0, 1, 1)
    ),
    "fooling-optimistic": Case(
        lambda: FoolingSanitizer.planned(
            concepts=LINE, size=200, epsilon=1.0, delta=1e-6, optimism=8.0
        ),
        LINE,
        PLAIN,
        9,
    ),
    "realizable": Case(realizable, LINE, PLAIN, 9),
    "realizable-labelled": Case(lambda: realizable(labelled=True), LINE, PAIRS, (9, 0)),
    "tree": Case(lambda: TreeSanitizer(concepts=LINE, epsilon=1.0), LINE, PLAIN, 9),
    "tree-labelled": Case(
        lambda: TreeSanitizer(concepts=Intervals(9), epsilon=1.0, delta=1e-6, labelled=True),
        Intervals(9),
        PAIRS,
        (9, 1),
    ),
    "histogram": Case(
        lambda: HistogramSanitizer(concepts=Points(9), epsilon=1.0, delta=1e-6),
        Points(9),
        PLAIN,
        9,
    ),
    "histogram-labelled": Case(
        lambda: HistogramSanitizer(
            concepts=SparseSets(2, 9), epsilon=1.0, delta=1e-6, labelled=True
        ),
        SparseSets(2, 9),
        PAIRS,
        (9, 1),
    ),
    "conversion": Case(
        lambda: LabelConversion(
            sanitizer=TreeSanitizer(concepts=LINE, epsilon=0.25),
            domain=LINE.domain,
            anchor=0,
            count_epsilon=0.5,
        ),
        LINE,
        PAIRS,
        (9, 1),
        synthetic=False,
    ),
}


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def only(names: Iterable[str]) -> pytest.MarkDecorator:
    """The cases that have the property."""
    return pytest.mark.parametrize("case", list(names), indirect=True)


def test_a_recipe_is_a_value(case: Case) -> None:
    recipe = case.build()
    assert recipe == case.build()
    assert hash(recipe) == hash(case.build())
    assert copy.deepcopy(recipe) == recipe
    with pytest.raises(FrozenInstanceError):
        recipe.delta = 0.5


def test_the_costs_make_up_the_guarantee_and_fit_into_the_budget(case: Case) -> None:
    guarantee = case.build().guarantee()
    assert 0 < guarantee.epsilon <= 1.0
    assert 0 <= guarantee.delta <= 1e-6
    assert case.build().costs()


def test_estimates_are_shares_for_every_concept(case: Case, rng: Randomness) -> None:
    released = case.build().release(case.data, rng=rng)
    for concept in case.concepts.concepts():
        assert 0 <= released.estimate(concept) <= 1


@only(name for name, case in CASES.items() if case.synthetic)
def test_synthetic_examples_are_in_the_domain_and_as_many_as_asked(
    case: Case, rng: Randomness
) -> None:
    released = case.build().release(case.data, rng=rng)
    labelled = isinstance(case.data[0], tuple) and case.concepts.domain.size != 4
    synthetic = released.dataset(37)
    assert len(synthetic) == 37
    assert synthetic == released.dataset(37)
    for cell in [*synthetic, *released.distribution()]:
        x = cell[0] if labelled else cell
        assert case.concepts.domain.check(x) == x
        assert not labelled or cell[1] in (0, 1)
    shares = released.distribution().values()
    assert all(share > 0 for share in shares)
    assert sum(shares) == pytest.approx(1)
    with pytest.raises(ValueError, match="size"):
        released.dataset(0)


def test_the_seed_decides_the_release(case: Case) -> None:
    recipe = case.build()

    def estimates(seed: int) -> list[float]:
        released = recipe.release(case.data, rng=seeded(seed))
        return [released.estimate(concept) for concept in case.concepts.concepts()]

    assert estimates(3) == estimates(3)


# A histogram's noise is drawn in the order of arrival, from one law.
@only(name for name in CASES if not name.startswith("histogram"))
def test_the_order_of_the_examples_does_not_matter(case: Case) -> None:
    recipe: Sanitizer = case.build()
    forwards = recipe.release(case.data, rng=seeded(5))
    backwards = recipe.release(case.data[::-1], rng=seeded(5))
    for concept in case.concepts.concepts():
        assert forwards.estimate(concept) == backwards.estimate(concept)


def test_examples_outside_the_domain_are_refused_before_anything_is_drawn(case: Case) -> None:
    rng = seeded(7)
    before = rng.state()
    with pytest.raises(ValueError, match="must be"):
        case.build().release([*case.data, case.outside], rng=rng)
    with pytest.raises(ValueError, match=r"empty|at least 1"):
        case.build().release([], rng=rng)
    assert rng.state() == before


def test_more_examples_never_raise_the_bound(case: Case) -> None:
    recipe = case.build()
    bounds = [
        recipe.error_bound(size=size, failure_probability=0.05) for size in (10, 10**4, 10**7)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert 0 < bounds[-1] <= bounds[0] == 1.0
    with pytest.raises(ValueError, match="size"):
        recipe.error_bound(size=0, failure_probability=0.05)


def test_smaller_errors_need_more_examples(case: Case) -> None:
    recipe = case.build()
    coarse = recipe.needed(error=0.5, failure_probability=0.05)
    fine = recipe.needed(error=0.1, failure_probability=0.05)
    assert 0 < coarse < fine
    with pytest.raises(ValueError, match="error"):
        recipe.needed(error=0.0, failure_probability=0.05)


def test_the_ledger_tells_what_was_spent_and_whether_it_was_private(case: Case) -> None:
    recipe = case.build()
    ledger = recipe.release(case.data, rng=seeded(1)).ledger
    assert ledger.spent().within(recipe.guarantee())
    assert not ledger.private
    assert recipe.release(case.data, rng=secure()).ledger.private


def test_progress_is_reported(case: Case, rng: Randomness) -> None:
    seen: list[int] = []
    case.build().release(case.data, rng=rng, progress=seen.append)
    assert seen and seen[0] == 1
