"""What is alike is enumerated once: the laws are those of the code that tells it apart."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.substitution import replaced
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.batch.irreducible import IrreducibleLearner
from littlestone.learners.lazy_forest import layer
from littlestone.learners.lazy_forest.eager_forest import Forest
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.online import proper
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.mechanisms.histogram import PrivateHistogram

CLOSE = UNIT >> 200


def law(play: Callable[[Tape], Hashable]) -> Law:
    return law_of(play, rounds=5, negligible=UNIT >> 60, most=100_000)


def same(known: Law, other: Law) -> bool:
    return known.views.keys() == other.views.keys() and all(
        abs(known.views[view].low - other.views[view].low) < CLOSE for view in known.views
    )


def both(owner: Any, name: str, play: Callable[[Tape], Hashable]) -> tuple[Law, Law]:
    """With the substitute, and with the library's own code under the same tape."""
    original = vars(owner)[name]
    with enumerable():
        short = law(play)
        with replaced(owner, **{name: original}):
            return short, law(play)


def forest(tape: Tape) -> Hashable:
    points = Points()
    trees = Forest(trees=3, leaves=2, base=StandardOptimal(points), coins=tape)
    for label in (1, 0, 1):
        trees.insert("a", label)
    return tuple(sorted((h("a"), count) for h, count in trees.shown.items() if count))


def matched(tape: Tape) -> Hashable:
    return tuple(sorted(layer.neighbours([0, 0, 1, 2], slots=6, rng=tape).items()))


def inserted(tape: Tape) -> Hashable:
    start = StandardOptimal(Points()).start()
    table = ForestTable.of_empty_sequences(start, pairs=2)
    grown = [table.insert(start.hypothesis, key, 1, slots=5, rng=tape) for key in "ab"]
    return tuple(state is not None for state in grown)


def dealt(tape: Tape) -> Hashable:
    learner = IrreducibleLearner(
        concepts=FiniteClass([[0], [1]]),
        epsilon=1.0,
        delta=1e-3,
        error=0.5,
        failure_probability=0.1,
        blocks=2,
        samples=5,
    )
    labels = np.array([1, 1, 0, 0, 1], dtype=np.uint8)
    return str(learner._tallies(np.zeros(5, dtype=np.int64), labels, tape).tolist())


@pytest.mark.parametrize(
    ("owner", "name", "play"),
    [
        (Forest, "tree_and_leaf", forest),
        (layer, "neighbours", matched),
        (ForestTable, "insert", inserted),
        (IrreducibleLearner, "_tallies", dealt),
    ],
    ids=["trees", "slots", "pairs", "blocks"],
)
def test_the_law_is_that_of_the_code(
    owner: Any, name: str, play: Callable[[Tape], Hashable]
) -> None:
    short, long = both(owner, name, play)
    assert same(short, long)
    assert short.runs < long.runs


def test_positions_have_the_probability_of_their_weights() -> None:
    weights = np.array([0.1, 0.0, 0.7, 0.2, 0.0])
    with enumerable():
        known = law(lambda tape: vars(proper)["draw_position"](weights, tape))
    assert known.views.keys() == {0, 2, 3}
    for place, mass in known.views.items():
        assert abs(mass.low / UNIT - weights[int(place)]) < 2**-50  # type: ignore[call-overload]


def test_of_a_noisy_count_only_what_is_asked_is_decided() -> None:
    histogram = PrivateHistogram(epsilon=1.0, delta=0.1)
    counts = Counter({"a": histogram.threshold or 0})
    with enumerable():
        listed = law(lambda tape: bool(histogram.release(counts, rng=tape)))
        values = law(lambda tape: tuple(map(int, histogram.release(counts, rng=tape).values())))
    assert listed.runs == 2
    assert values.runs == 2 + histogram.noise_bound  # each that reaches the threshold, or none
    nothing = values.views[()]
    assert abs(nothing.low - listed.views[False].low) < CLOSE
