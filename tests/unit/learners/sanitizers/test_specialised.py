"""Histograms and trees as sanitizers: certain or sharp bounds, any number of keys."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import in_one_of_many, most_failures

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.learners.sanitizers.choose import sanitizer_for
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import IntervalTree, TreeSanitizer, monotone
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.randomness import Randomness, seeded

KEYS = ["often"] * 5000 + ["sometimes"] * 3000 + [f"user {i}" for i in range(2000)]


def test_histograms_are_right_with_certainty(rng: Randomness) -> None:
    recipe = HistogramSanitizer(concepts=SparseSets(2), epsilon=1.0, delta=1e-6)
    bound = recipe.error_bound(size=len(KEYS), failure_probability=0.05)
    for _ in range(50):
        released = recipe.release(KEYS, rng=rng)
        pair = FiniteSupport.on("often", "sometimes")
        assert abs(released.estimate(pair) - 0.8) <= bound
        assert released.estimate(FiniteSupport.on("user 7")) <= bound


def test_labelled_histograms_estimate_errors(rng: Randomness) -> None:
    labelled = [(key, int(key == "often")) for key in KEYS]
    recipe = HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6, labelled=True)
    assert recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    bound = recipe.error_bound(size=len(KEYS), failure_probability=1e-10)
    released = recipe.release(labelled, rng=rng)
    for rule, errors in [("often", 0.0), ("sometimes", 0.8), ("nobody", 0.5)]:
        assert abs(released.estimate(FiniteSupport.on(rule)) - errors) <= bound
    synthetic = released.dataset(1000)
    assert abs(synthetic.count(("often", 1)) - 500) <= 1000 * bound
    assert abs(sum(y for _, y in synthetic) - 500) <= 1000 * bound


def test_the_rest_is_spread_so_thin_that_no_filler_stands_out() -> None:
    recipe = HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6)
    released = recipe.release(KEYS, rng=seeded(1))
    shares = released.distribution()
    assert sum(shares.values()) == pytest.approx(1)
    assert set(released.counts) == {"often", "sometimes"}
    fillers = [share for key, share in shares.items() if key not in released.counts]
    assert max(fillers) <= recipe.error_bound(size=len(KEYS), failure_probability=0.5)


def test_fillers_stay_in_a_small_domain() -> None:
    recipe = HistogramSanitizer(concepts=Points(3), epsilon=1.0, delta=1e-6)
    released = recipe.release([0] * 900 + [1, 2] * 10, rng=seeded(1))
    assert set(released.distribution()) <= {0, 1, 2}
    assert len(released.dataset(77)) == 77


def test_histograms_need_examples_in_proportion_to_the_set() -> None:
    one = HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6)
    five = HistogramSanitizer(concepts=SparseSets(5), epsilon=1.0, delta=1e-6)
    needed = one.needed(error=0.01, failure_probability=0.05)
    assert five.needed(error=0.01, failure_probability=0.05) == 5 * needed == 5 * 5400


def test_classes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="few keys"):
        HistogramSanitizer(concepts=Thresholds(3), epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="rarely change"):
        TreeSanitizer(concepts=Points(3), epsilon=1.0)
    with pytest.raises(ValueError, match="merge neighbouring points"):
        TreeSanitizer(concepts=Thresholds(2**23), epsilon=1.0)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("concepts", [Thresholds(50), Intervals(20)], ids=repr)
def test_trees_keep_their_bound(
    concepts: Thresholds | Intervals, labelled: bool, rng: Randomness
) -> None:
    generator = np.random.default_rng(1)
    points = np.minimum(generator.geometric(0.1, size=4000), concepts.n - 1).tolist()
    labels = generator.integers(2, size=4000).tolist()
    data = list(zip(points, labels, strict=True)) if labelled else points
    recipe = TreeSanitizer(concepts=concepts, epsilon=2.0, delta=1e-9, labelled=labelled)
    bound = recipe.error_bound(size=4000, failure_probability=1e-10)
    released = recipe.release(data, rng=rng)
    for concept in concepts.concepts():
        said = concept.many(points).tolist()
        wrong = [a != b for a, b in zip(said, labels, strict=True)] if labelled else said
        assert abs(released.estimate(concept) - sum(wrong) / 4000) <= bound


@given(
    cells=st.integers(1, 40),
    branching=st.integers(2, 7),
    seed=st.integers(0, 1000),
)
def test_without_noise_the_curve_is_the_true_one(cells: int, branching: int, seed: int) -> None:
    tally = np.random.default_rng(seed).integers(5, size=cells)
    tree = IntervalTree(cells=cells, branching=branching)
    counts = tree.node_counts(tally)
    assert len(counts) == tree.levels
    curve = tree.prefixes(counts, total=int(tally.sum()))
    assert np.allclose(curve, np.concatenate([[0], np.cumsum(tally)]))


@given(cells=st.integers(2, 40), branching=st.integers(2, 7), place=st.integers(0, 10**6))
def test_a_replaced_example_changes_two_nodes_of_each_level(
    cells: int, branching: int, place: int
) -> None:
    tree = IntervalTree(cells=cells, branching=branching)
    tally = np.ones(cells, dtype=np.int64)
    other = tally.copy()
    other[place % cells] -= 1
    other[(place // cells) % cells] += 1
    for before, after in zip(tree.node_counts(tally), tree.node_counts(other), strict=True):
        changes = sorted((after - before)[after != before].tolist())
        assert changes in ([], [-1, 1])


@given(
    truth=st.lists(st.integers(0, 9), min_size=2, max_size=20),
    noise=st.lists(st.integers(-5, 5), min_size=20, max_size=20),
)
def test_making_a_curve_rise_never_makes_it_worse(truth: list[int], noise: list[int]) -> None:
    curve = np.concatenate([[0.0], np.cumsum(truth)])
    noisy = curve.copy()
    noisy[1:-1] += noise[: len(curve) - 2]
    risen = monotone(noisy, total=int(curve[-1]))
    assert (np.diff(risen) >= 0).all()
    assert np.abs(risen - curve).max() <= np.abs(noisy - curve).max() + 1e-9


@pytest.mark.statistical
def test_the_prefix_bound_holds_and_is_not_far_off(rng: Randomness) -> None:
    # Each of 300 curves is beyond the bound with probability at most 0.001, and most of them are
    # beyond a third of it.
    tree, rate = IntervalTree(cells=200, branching=15), 0.25
    bound = tree.prefix_error_bound(rate=rate, failure_probability=0.001)
    count = LaplaceCount(epsilon=rate)
    tally = np.full(200, 50)
    truth = np.concatenate([[0], np.cumsum(tally)])

    def error() -> float:
        noisy = [count.release_many(nodes, rng=rng) for nodes in tree.node_counts(tally)]
        return float(np.abs(tree.prefixes(noisy, total=10_000) - truth).max())

    assert sum(error() > bound for _ in range(300)) <= most_failures(300, 0.001)
    assert in_one_of_many(lambda: sum(error() > bound / 3 for _ in range(50)) > 25)


def test_a_node_may_spend_what_the_better_accounting_allows() -> None:
    pure = TreeSanitizer(concepts=Thresholds(2**16), epsilon=1.0, branching=2)
    mixed = TreeSanitizer(concepts=Thresholds(2**16), epsilon=1.0, delta=1e-3, branching=2)
    assert pure.guarantee() == PrivacyGuarantee(epsilon=1.0)
    assert mixed.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-3))
    assert mixed._count.epsilon > pure._count.epsilon
    assert mixed.error_bound(size=10**5, failure_probability=0.05) < pure.error_bound(
        size=10**5, failure_probability=0.05
    )


def test_the_branching_is_the_best_one() -> None:
    best = TreeSanitizer(concepts=Thresholds(1024), epsilon=1.0)
    for branching in (2, 4, 8, 64, 1024):
        other = TreeSanitizer(concepts=Thresholds(1024), epsilon=1.0, branching=branching)
        assert best.error_bound(size=10**5, failure_probability=0.05) <= other.error_bound(
            size=10**5, failure_probability=0.05
        )


def test_synthetic_thresholds_follow_the_released_curve() -> None:
    recipe = TreeSanitizer(concepts=Thresholds(100), epsilon=1.0)
    released = recipe.release([10, 50, 90] * 5000, rng=seeded(4))
    synthetic = np.array(released.dataset(300))
    for concept in Thresholds(100).concepts():
        share = concept.many(synthetic).mean()
        assert abs(share - released.estimate(concept)) <= 0.5 / 300 + 1e-9
    assert sum(released.distribution().values()) == pytest.approx(1)


def test_the_specialised_sanitizer_is_chosen() -> None:
    budget: dict[str, Any] = {"size": 1000, "epsilon": 1.0, "delta": 1e-6}
    assert isinstance(sanitizer_for(SparseSets(2), **budget), HistogramSanitizer)
    assert isinstance(sanitizer_for(Intervals(9), **budget), TreeSanitizer)
    assert isinstance(sanitizer_for(Conjunctions(2), **budget), FoolingSanitizer)


@pytest.mark.parametrize("size", [10_000, 100_000])
def test_the_specialised_ones_beat_the_generic_one_by_far(size: int) -> None:
    for concepts in (Thresholds(255), Points(255)):
        special = sanitizer_for(concepts, size=size, epsilon=1.0, delta=1e-6)
        generic = FoolingSanitizer.planned(concepts=concepts, size=size, epsilon=1.0, delta=1e-6)
        ratio = generic.error_bound(size=size, failure_probability=0.05) / special.error_bound(
            size=size, failure_probability=0.05
        )
        assert ratio > 20
