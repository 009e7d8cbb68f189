"""The label conversion: its identity, its accuracy, its refusals."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.sanitizers.labels import LabelConversion, LabelledEstimate, relabelled
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness, seeded

CONCEPTS = Thresholds(6)
examples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=30)
RECIPE = LabelConversion(
    sanitizer=TreeSanitizer(concepts=CONCEPTS, epsilon=0.375),
    domain=CONCEPTS.domain,
    anchor=2,
    count_epsilon=0.25,
)
DATA = [(1, 0)] * 3000 + [(4, 1)] * 5000 + [(4, 0)] * 2000


@dataclass(frozen=True)
class Exact:
    """A release without noise."""

    points: list[Any]

    @property
    def ledger(self) -> Ledger:
        return Ledger(budget=PrivacyGuarantee(epsilon=1.0), private=False)

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        return float(Fraction(sum(map(hypothesis, self.points)), len(self.points)))

    def distribution(self) -> Mapping[Any, float]:
        raise NotImplementedError

    def dataset(self, size: int, /) -> list[Any]:
        raise NotImplementedError


@given(data=examples, anchor=st.integers(0, 5), k=st.integers(0, 6))
def test_the_identity_of_the_lemma(data: list[tuple[int, int]], anchor: int, k: int) -> None:
    rule = list(CONCEPTS.concepts())[k]
    points, labels = [x for x, _ in data], [y for _, y in data]
    n, ones = len(data), sum(labels)
    zero, one = (relabelled(points, labels, b, anchor) for b in (0, 1))
    share = [Fraction(sum(map(rule, copy)), n) for copy in (zero, one)]
    errors = Fraction(sum(rule(x) != y for x, y in data), n)
    assert errors == share[0] - share[1] + Fraction(ones, n) + rule(anchor) * Fraction(
        n - 2 * ones, n
    )


@given(data=examples, anchor=st.integers(0, 5), k=st.integers(0, 6))
def test_without_noise_the_estimate_is_the_error(
    data: list[tuple[int, int]], anchor: int, k: int
) -> None:
    rule = list(CONCEPTS.concepts())[k]
    points, labels = [x for x, _ in data], [y for _, y in data]
    estimate = LabelledEstimate(
        zeros=Exact(relabelled(points, labels, 0, anchor)),
        ones=Exact(relabelled(points, labels, 1, anchor)),
        share=sum(labels) / len(labels),
        anchor=anchor,
        receipt=RECIPE.release(data, rng=seeded(1)).receipt,
    )
    errors = sum(rule(x) != y for x, y in data) / len(data)
    assert estimate.estimate(rule) == pytest.approx(errors)


def test_errors_are_estimated_within_the_bound(rng: Randomness) -> None:
    released = RECIPE.release(DATA, rng=rng)
    bound = RECIPE.error_bound(size=len(DATA), failure_probability=1e-9)
    assert bound < 0.1
    for rule in CONCEPTS.concepts():
        errors = sum(rule(x) != y for x, y in DATA) / len(DATA)
        assert abs(released.estimate(rule) - errors) <= bound


def test_it_costs_two_releases_and_a_count() -> None:
    assert RECIPE.guarantee() == PrivacyGuarantee(epsilon=1.0)
    assert RECIPE.release(DATA[:10], rng=seeded(2)).ledger.spent() == RECIPE.guarantee()


def test_needed_reaches_the_error() -> None:
    needed = RECIPE.needed(error=0.05, failure_probability=0.05)
    assert RECIPE.error_bound(size=needed, failure_probability=0.05) <= 0.05


def test_an_anchor_outside_the_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="got x=9"):
        LabelConversion(
            sanitizer=RECIPE.sanitizer, domain=CONCEPTS.domain, anchor=9, count_epsilon=0.1
        )


def test_there_is_no_dataset_behind_a_signed_measure() -> None:
    released = RECIPE.release(DATA[:10], rng=seeded(2))
    with pytest.raises(ValueError, match="labelled=True"):
        released.dataset(5)
    with pytest.raises(ValueError, match="labelled=True"):
        released.distribution()
