"""Grey box: on neighbouring datasets, no mechanism inside a sanitizer sees more than it is priced
for, control flow follows its answers only, and nothing else is released."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.bucketed import BucketedDiscriminator

from littlestone.audit.grey_box import _guarded
from littlestone.audit.visits import Record, SensitivityError, Visit
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.discriminator import FiniteDiscriminator
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.generator import HedgeGenerator
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.learners.sanitizers.winnow_generator import WinnowGenerator
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.randomness import Randomness, seeded

SCATTERED = FiniteClass(np.random.default_rng(8).integers(2, size=(14, 6)))
LINE = Thresholds(6)


def fooling(discriminator: Any, *, labelled: bool = False) -> FoolingSanitizer:
    return FoolingSanitizer(
        concepts=SCATTERED,
        labelled=labelled,
        generator=HedgeGenerator(step=0.4),
        discriminator=discriminator,
        delta=1e-6,
    )


FINITE = FiniteDiscriminator(rounds=12, threshold=0.05, choose_epsilon=0.5, test_epsilon=0.5)
BUCKETED = BucketedDiscriminator(rounds=12, error=0.2, epsilon=1.5)
UNLABELLED: dict[str, Any] = {
    "fooling": fooling(FINITE),
    "bucketed": fooling(BUCKETED),
    "realizable": RealizableSanitizer(
        concepts=SCATTERED,
        generator=WinnowGenerator(cut=0.3, raised=1.5, lowered=0.6),
        rounds=12,
        lower=0.1,
        upper=0.5,
        choose_epsilon=0.5,
        test_epsilon=0.5,
        delta=1e-6,
    ),
    "tree": TreeSanitizer(concepts=LINE, epsilon=1.0, branching=2),
    "histogram": HistogramSanitizer(concepts=Points(6), epsilon=1.0, delta=1e-6),
}
LABELLED: dict[str, Any] = {
    "fooling": fooling(FINITE, labelled=True),
    "tree": TreeSanitizer(concepts=Intervals(6), epsilon=1.0, branching=3, labelled=True),
    "histogram": HistogramSanitizer(concepts=Points(6), epsilon=1.0, delta=1e-6, labelled=True),
    "conversion": LabelConversion(
        sanitizer=TreeSanitizer(concepts=LINE, epsilon=0.25),
        domain=LINE.domain,
        anchor=5,
        count_epsilon=0.5,
    ),
}
plain = st.lists(st.integers(0, 5), min_size=2, max_size=40)
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=40)


class Doors(Record):
    """Compares what reaches ``LaplaceCount`` as well: two counts, by one each."""

    def compare(self, earlier: Visit, asked: Any) -> None:
        if isinstance(earlier.recipe, LaplaceCount):
            changes = np.atleast_1d(asked) - np.atleast_1d(earlier.given)
            if np.abs(changes).max() > earlier.recipe.sensitivity or np.count_nonzero(changes) > 2:
                raise SensitivityError(f"counts changed by {changes}")
        else:
            super().compare(earlier, asked)


@contextmanager
def guarded(record: Record, noise: Randomness) -> Iterator[None]:
    """The library's doors, and that of ``LaplaceCount``."""
    once, many = LaplaceCount.release, LaplaceCount.release_many

    def release(recipe: LaplaceCount, count: int, *, rng: Randomness) -> Any:
        del rng
        return record.visit("LaplaceCount", recipe, count, lambda: once(recipe, count, rng=noise))

    def release_many(recipe: LaplaceCount, counts: Any, *, rng: Randomness) -> Any:
        del rng
        return record.visit("LaplaceCount", recipe, counts, lambda: many(recipe, counts, rng=noise))

    with (
        _guarded(record, noise),
        mock.patch.object(LaplaceCount, "release", release),
        mock.patch.object(LaplaceCount, "release_many", release_many),
    ):
        yield


def check(recipe: Any, data: list[Any], place: int, instead: Any, seed: int) -> int:
    """Release both worlds with the same answers; how many questions were asked."""
    neighbour = [*data]
    neighbour[place % len(data)] = instead
    record = Doors()
    inner: Any = recipe.sanitizer if isinstance(recipe, LabelConversion) else recipe
    concepts = inner.concepts

    def estimates(dataset: list[Any]) -> list[float]:
        released = recipe.release(dataset, rng=seeded(seed))
        return [released.estimate(concept) for concept in concepts.concepts()]

    with guarded(record, seeded(seed)):
        first = estimates(data)
        record.expected = iter(record.visits)
        second = estimates(neighbour)
        assert next(record.expected, None) is None
    assert first == second
    return len(record.visits)


@pytest.mark.parametrize("name", UNLABELLED)
@given(data=plain, place=st.integers(0, 100), instead=st.integers(0, 5), seed=st.integers(0, 99))
def test_one_example_reaches_no_mechanism_twice(
    name: str, data: list[int], place: int, instead: int, seed: int
) -> None:
    assert check(UNLABELLED[name], data, place, instead, seed) > 0


@pytest.mark.parametrize("name", LABELLED)
@given(
    data=pairs,
    place=st.integers(0, 100),
    instead=st.tuples(st.integers(0, 5), st.integers(0, 1)),
    seed=st.integers(0, 99),
)
def test_one_labelled_example_reaches_no_mechanism_twice(
    name: str, data: list[tuple[int, int]], place: int, instead: tuple[int, int], seed: int
) -> None:
    assert check(LABELLED[name], data, place, instead, seed) > 0


class AnchoredInTheData:
    """A conversion whose anchor is the first example's point."""

    concepts = LINE

    def release(self, dataset: list[tuple[int, int]], *, rng: Randomness) -> Any:
        recipe = LabelConversion(
            sanitizer=TreeSanitizer(concepts=LINE, epsilon=0.25),
            domain=LINE.domain,
            anchor=dataset[0][0],
            count_epsilon=0.5,
        )
        return recipe.release(dataset, rng=rng)


def test_an_anchor_from_the_data_is_noticed() -> None:
    with pytest.raises(SensitivityError):
        check(AnchoredInTheData(), [(0, 0)] + [(3, 1)] * 9, 0, (5, 0), 1)
