"""Sanitizers and proper learners with one bug each."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.subjects.proper_subjects import COIN, LISTS, SINGLED_OUT, STEEP, coins, says
from littlestone.audit.subjects.sanitizer_subjects import CUT_FIRST_OR_LATER, near, one_cut
from littlestone.audit.two_worlds import Control
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.batch.agnostic_empirical import AgnosticEmpirical
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.learners.batch.subsampling import Subsampled
from littlestone.learners.online.proper import HedgeLearner
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.randomness import Randomness


def _noise_without_size(dataset: Sequence[int], rng: Randomness) -> int:
    # Noise of scale 1 / (epsilon n), meant for shares, on the counts.
    return sum(dataset) + DiscreteLaplace(rate=len(dataset)).draw(rng)


def _budget_in_every_round(dataset: Sequence[int], rng: Randomness) -> int:
    choose, surplus = ExponentialMechanism(epsilon=1.0), 2 * sum(dataset) - len(dataset)
    return sum(choose.draw([-surplus, surplus], rng=rng)[0] for _ in range(8))


def _anchor_from_the_data(dataset: Sequence[tuple[int, int]], rng: Randomness) -> Any:
    concepts = Thresholds(2)
    recipe = LabelConversion(
        sanitizer=TreeSanitizer(concepts=concepts, epsilon=0.25),
        domain=concepts.domain,
        anchor=dataset[0][0],
        count_epsilon=0.5,
    )
    return recipe.release(dataset, rng=rng)


def _rounds_from_the_data(dataset: Sequence[int], rng: Randomness) -> int:
    # As many rounds as there are true objections; each round is private by itself.
    choose = ExponentialMechanism.from_eta(Fraction(1, 64))
    guess, rounds = len(dataset) // 2, 0
    while abs(sum(dataset) - guess) > 2:
        choose.draw([guess - sum(dataset), sum(dataset) - guess], rng=rng)
        guess += 1 if sum(dataset) > guess else -1
        rounds += 1
    return rounds


def _moved_row_pays_for_one_part(table: Sequence[Sequence[float]], rng: Randomness) -> Any:
    # Parts are disjoint, so each gets the whole budget: true for a removed row, not a moved one.
    return one_cut(2.0).release(table, rng=rng)


CLAIMED = PrivacyGuarantee(epsilon=1.0, delta=1e-6)


def _bottom_too_low(lists: Sequence[set[str]], rng: Randomness) -> str | None:
    # Without a bottom, an element of a single list is revealed.
    found = sorted({u for known in lists for u in known})
    return found[rng.below(len(found))] if found else None


def _blocks_overlap(labels: Sequence[int], rng: Randomness) -> Any:
    # Every teacher gets all the examples, so all lists change at once.
    recipe = SparseSample(epsilon=1.0, delta=1e-6, lists=LISTS, longest=1)
    best = "a" if 2 * sum(labels) > len(labels) else "b"
    return recipe.draw([{best}] * LISTS, rng=rng)


# Algorithm 4 is stated as (O(epsilon), ...)-private; here the O is ignored.
_PARAMETER_AS_PROMISE = AgnosticEmpirical(
    learner=ProperSelection(concepts=SINGLED_OUT, epsilon=10.0), size=4, sampled=1, epsilon=0.1
)
# As many draws as are allowed if each example is drawn at most once.
_SAMPLE_TOO_LARGE = Subsampled(
    learner=ProperSelection(concepts=COIN, epsilon=1.0), draws=40, size=4
)


def _raw_batch(batch: Sequence[tuple[int, int]], rng: Randomness) -> Hypothesis:
    # If the sanitizer seems to have failed, the batch itself is used.
    concepts = Thresholds(2)
    sanitizer = TreeSanitizer(concepts=concepts, epsilon=1.0, labelled=True)
    released = sanitizer.release(batch, rng=rng)
    failed = any(
        abs(released.estimate(h) - sum(h(x) != y for x, y in batch) / len(batch)) > 0.2
        for h in concepts.concepts()
    )
    x, y = (batch if failed else released.dataset(len(batch)))[0]
    state = HedgeLearner(concepts=concepts, rounds=2, rate=STEEP).begin()
    return state.after(x, y).draw(rng=rng)


CONTROLS = (
    Control.one_shot(
        "sanitizer-noise-without-size",
        "noise of scale 1 / (epsilon n) is added to counts instead of shares",
        _noise_without_size,
        OneQuestion(zero=[0] * 20, one=[1] + [0] * 19),
    ),
    Control.one_shot(
        "sanitizer-budget-in-every-round",
        "each of eight rounds spends the whole budget",
        _budget_in_every_round,
        OneQuestion(zero=[0] * 10 + [1] * 10, one=[0] * 9 + [1] * 11),
    ),
    Control.one_shot(
        "anchor-from-the-data",
        "the anchor of the label conversion is the first example's point",
        _anchor_from_the_data,
        OneQuestion(
            zero=[(0, 1)] + [(1, 1)] * 39,
            one=[(1, 1)] * 40,
            notice=lambda release: near(release.zeros.weights[0]),
        ),
    ),
    Control.one_shot(
        "cuts-moved-row-pays-once",
        "a row that moves from one part to another pays for one of them",
        _moved_row_pays_for_one_part,
        CUT_FIRST_OR_LATER,
    ),
    Control.one_shot(
        "sanitizer-rounds-from-the-data",
        "the game ends when no true objection is left",
        _rounds_from_the_data,
        OneQuestion(zero=[0] * 4 + [1] * 16, one=[0] * 5 + [1] * 15),
    ),
    Control.one_shot(
        "sparse-sample-without-bottom",
        "an element of a single list is released with a large probability",
        _bottom_too_low,
        OneQuestion(
            zero=[{"a"}] * 9 + [{"b"}], one=[{"a"}] * 10, notice=lambda drawn: drawn == "b"
        ),
        CLAIMED,
    ),
    Control.one_shot(
        "teachers-share-examples",
        "every block holds all the examples, so that one of them changes every list",
        _blocks_overlap,
        OneQuestion(zero=[1] * 6 + [0] * 5, one=[1] * 5 + [0] * 6),
        CLAIMED,
    ),
    Control.one_shot(
        "algorithm-4-parameter",
        "Algorithm 4 is said to cost the epsilon of its exponential mechanism",
        lambda dataset, rng: _PARAMETER_AS_PROMISE.learn(dataset, rng=rng),
        OneQuestion(zero=[(0, 1)] + [(1, 0)] * 3, one=[(1, 0)] * 4, notice=says(0)),
        PrivacyGuarantee(epsilon=0.1),
    ),
    Control.one_shot(
        "subsample-with-repetition",
        "forty draws from four examples, at the price of one draw of each",
        lambda dataset, rng: _SAMPLE_TOO_LARGE.learn(dataset, rng=rng),
        OneQuestion(zero=coins(2, 4), one=coins(1, 4), notice=says(0)),
    ),
    Control.one_shot(
        "batch-instead-of-synthetic",
        "a learner checks whether the sanitizer failed, and if so uses the batch itself",
        _raw_batch,
        OneQuestion(zero=[(0, 1), (0, 1)], one=[(0, 0), (0, 1)], notice=says(0)),
    ),
)
