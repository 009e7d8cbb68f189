"""Hypotheses changed at a few points."""

from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.domain import AnyHashable, BooleanCube, IntegerRange
from littlestone.concepts.hypotheses.cube import ConjunctionHypothesis
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.game.adversaries.spreading import flipped

N = 12
points = st.sets(st.integers(0, N - 1))
tables = st.lists(st.integers(0, 1), min_size=N, max_size=N)


@given(
    points=points, k=st.integers(0, N), labels=st.lists(st.integers(0, 1), min_size=N, max_size=N)
)
def test_exactly_the_given_points_change(points: set[int], k: int, labels: list[int]) -> None:
    rules = (
        ThresholdHypothesis(N, k),
        TableHypothesis.from_labels(labels),
        FiniteSupport(frozenset(x for x, label in enumerate(labels) if label)),
    )
    for rule in rules:
        changed = flipped(rule, sorted(points), IntegerRange(N))
        assert changed is not None
        assert all(changed(x) == rule(x) ^ (x in points) for x in range(N))


def test_keys_of_any_kind_can_change() -> None:
    changed = flipped(FiniteSupport.on("a", 3), ["a", ("b", 1)], AnyHashable())
    assert changed == FiniteSupport.on(3, ("b", 1))


def test_other_domains_have_no_closed_form() -> None:
    assert flipped(ConjunctionHypothesis(2, ()), [(0, 1)], BooleanCube(2)) is None
