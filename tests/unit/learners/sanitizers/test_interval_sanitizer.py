"""All intervals of a stream: which are released, from what, at what cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.errors import HorizonExceededError
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.interval_sanitizer import (
    IntervalSanitizer,
    IntervalSanitizerRun,
)
from littlestone.learners.sanitizers.protocols import Sanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.randomness import Randomness, seeded

LINE = Thresholds(8)


def trees(size: int, parts: int) -> Sanitizer:
    return TreeSanitizer(concepts=LINE, epsilon=1.0 / parts)


def histograms(size: int, parts: int) -> Sanitizer:
    return HistogramSanitizer(concepts=Points(), epsilon=2.0 / parts, delta=1e-6 / parts)


def played(recipe: IntervalSanitizer, stream: list[int]) -> IntervalSanitizerRun:
    run = recipe.start(rng=seeded(1))
    for example in stream:
        run.observe(example)
    return run


@given(rounds=st.integers(1, 70), level=st.integers(0, 7))
def test_every_interval_is_put_together_from_all_its_pieces(rounds: int, level: int) -> None:
    recipe = IntervalSanitizer(rounds=rounds, family=trees, domain=LINE.domain, shortest=1 << level)
    run = played(recipe, [t % 8 for t in range(rounds)])
    dyadic = DyadicIntervals(rounds=rounds)
    for left, right in {(1, rounds), ((rounds + 1) // 2, rounds), (1, max(1, rounds // 3))}:
        pieces = run.pieces(left, right)
        assert [interval for interval, _ in pieces] == dyadic.decompose(left, right)
        for (first, last), release in pieces:
            assert (release is None) == (last - first + 1 < 1 << level)
        # X1: the last piece is there as well.
        long = [b - a + 1 for (a, b), release in pieces if release is not None]
        assert len(run.dataset(left, right)) == sum(long)


def test_an_interval_reads_its_own_examples_and_no_others() -> None:
    stream = [t // 16 for t in range(64)]  # 16 zeros, 16 ones, …
    recipe = IntervalSanitizer(
        rounds=64,
        family=lambda size, parts: TreeSanitizer(concepts=LINE, epsilon=1000.0),
        domain=LINE.domain,
        shortest=16,
    )
    run = played(recipe, stream)
    for left in (1, 17, 33, 49):
        assert run.dataset(left, left + 15) == [left // 16] * 16
    rule = next(h for h in LINE.concepts() if h.describe() == "x >= 2")
    assert run.count(rule, 17, 48) == pytest.approx(16)


def test_no_example_pays_more_than_was_promised() -> None:
    recipe = IntervalSanitizer(rounds=50, family=trees, domain=LINE.domain, shortest=4)
    run = played(recipe, [3] * 50)
    assert recipe.levels == 4  # 4, 8, 16, 32
    assert recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0))
    assert run.ledger.spent().within(recipe.guarantee())
    assert run.ledger.spent().epsilon == pytest.approx(1.0)


def test_levels_that_could_say_nothing_are_left_out_and_spend_nothing() -> None:
    recipe = IntervalSanitizer.planned(rounds=1000, family=histograms, domain=Points().domain)
    assert recipe.shortest > 1
    for size in recipe.lengths:
        assert histograms(size, recipe.levels).error_bound(size=size, failure_probability=0.05) < 1
    short = recipe.shortest // 2
    assert (
        histograms(short, recipe.levels + 1).error_bound(size=short, failure_probability=0.05) >= 1
    )
    run = played(recipe, [7] * (recipe.shortest - 1))
    assert run.ledger.charges == ()


def test_a_stream_that_is_too_short_for_anything_costs_nothing() -> None:
    recipe = IntervalSanitizer.planned(rounds=20, family=histograms, domain=Points().domain)
    assert recipe.levels == 0
    assert recipe.guarantee() == PrivacyGuarantee(epsilon=0.0)
    run = played(recipe, [1] * 20)
    assert run.dataset(1, 20) == []
    assert recipe.error_bound(failure_probability=0.05) >= 20


def test_counts_of_all_intervals_stay_within_the_bound(rng: Randomness) -> None:
    recipe = IntervalSanitizer.planned(
        rounds=2048, family=histograms, domain=Points().domain, failure_probability=1e-10
    )
    stream = np.random.default_rng(1).choice(3, size=2048, p=[0.7, 0.2, 0.1]).tolist()
    run = recipe.start(rng=rng)
    for example in stream:
        run.observe(example)
    bound = recipe.error_bound(failure_probability=1e-10)
    for left, right in [(1, 2048), (100, 1900), (513, 1536), (2, 2047)]:
        for key in range(3):
            truth = stream[left - 1 : right].count(key)
            assert abs(run.count(FiniteSupport.on(key), left, right) - truth) <= bound


def test_realizable_pieces_hit_what_holds_often(rng: Randomness) -> None:
    budget = MixedBudget.split(epsilon=8.0, delta=1e-6)

    def family(size: int, parts: int) -> Sanitizer:
        return RealizableSanitizer.planned(
            concepts=LINE, size=size, budget=budget.divided(parts), failure_probability=1e-10
        )

    recipe = IntervalSanitizer.planned(
        rounds=8192, family=family, domain=LINE.domain, delta=1e-6, failure_probability=1e-10
    )
    assert recipe.levels >= 2
    assert recipe.guarantee().within(PrivacyGuarantee(epsilon=8.0, delta=1e-6))
    run = recipe.start(rng=rng)
    for t in range(8192):
        run.observe(2 if t % 2 else 6)
    bound = recipe.error_bound(failure_probability=1e-9)
    for number, concept in enumerate(LINE.concepts()):
        often = 8192 if number <= 2 else 4096 if number <= 6 else 0
        if often >= bound:
            assert run.flagged(concept, 1, 8192)
            assert any(concept(x) for x in run.dataset(1, 8192))
        if often == 0:
            assert not run.flagged(concept, 1, 8192)


def test_the_stream_ends_where_it_was_said_to_end() -> None:
    run = played(IntervalSanitizer(rounds=2, family=trees, domain=LINE.domain, shortest=1), [1, 2])
    with pytest.raises(HorizonExceededError):
        run.observe(1)
    with pytest.raises(ValueError, match="right must be at most"):
        run.pieces(1, 3)


def test_a_bad_example_is_refused_and_leaves_the_run_as_it_was() -> None:
    run = played(IntervalSanitizer(rounds=9, family=trees, domain=LINE.domain, shortest=1), [1])
    with pytest.raises(ValueError, match="got x=99"):
        run.observe(99)
    assert run.rounds == 1


def test_labelled_streams(rng: Randomness) -> None:
    def family(size: int, parts: int) -> Sanitizer:
        return TreeSanitizer(concepts=LINE, epsilon=1.0 / parts, labelled=True)

    recipe = IntervalSanitizer(
        rounds=4, family=family, domain=LINE.domain, shortest=4, labelled=True
    )
    run = recipe.start(rng=rng)
    for example in [(1, 0), (2, 1), (3, 1), (0, 0)]:
        run.observe(example)
    assert all(y in (0, 1) for _, y in run.dataset(1, 4))
    with pytest.raises(ValueError, match="pair"):
        recipe.start(rng=rng).observe(3)


def test_a_family_for_other_points_is_refused() -> None:
    """It would raise at the first example outside its domain: an error that depends on data."""
    keys = IntervalSanitizer(rounds=4, family=histograms, domain=LINE.domain, shortest=4)
    played(keys, [7, 0, 7, 7])
    with pytest.raises(ValueError, match="family must return sanitizers for"):
        IntervalSanitizer(rounds=4, family=trees, domain=Thresholds(9).domain, shortest=4)


def test_the_shortest_length_is_a_power_of_two() -> None:
    with pytest.raises(ValueError, match="power of two"):
        IntervalSanitizer(rounds=9, family=trees, domain=LINE.domain, shortest=3)
