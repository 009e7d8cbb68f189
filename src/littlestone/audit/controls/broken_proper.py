"""Proper learners, Algorithms 3 and 4, each wrong in one place."""

from collections.abc import Sequence
from typing import Any

from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.audit.subjects.proper_subjects import (
    COIN,
    LISTS,
    SINGLED_OUT,
    STEEP,
    coins,
    says,
)
from littlestone.audit.two_worlds import Control
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis
from littlestone.mechanisms.sparse_sample import SparseSample
from littlestone.online.hedge_learner import HedgeLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.proper.agnostic_empirical import AgnosticEmpirical
from littlestone.proper.proper_selection import ProperSelection
from littlestone.proper.subsampling import Subsampled
from littlestone.randomness import Randomness
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer

CLAIMED = PrivacyGuarantee(epsilon=1.0, delta=1e-6)


def _bottom_too_low(lists: Sequence[set[str]], rng: Randomness) -> str | None:
    # Without a bottom the only list that has an element gives it away.
    found = sorted({u for known in lists for u in known})
    return found[rng.below(len(found))] if found else None


def _blocks_overlap(labels: Sequence[int], rng: Randomness) -> Any:
    # Every teacher is given all the examples, so that all lists change at once.
    recipe = SparseSample(epsilon=1.0, delta=1e-6, lists=LISTS, longest=1)
    best = "a" if 2 * sum(labels) > len(labels) else "b"
    return recipe.draw([{best}] * LISTS, rng=rng)


# Algorithm 4 is called (O(epsilon), ...)-private; here with the O left out.
_PARAMETER_AS_PROMISE = AgnosticEmpirical(
    learner=ProperSelection(concepts=SINGLED_OUT, epsilon=10.0), size=4, sampled=1, epsilon=0.1
)
# As many draws as would be allowed if each example could be drawn only once.
_SAMPLE_TOO_LARGE = Subsampled(
    learner=ProperSelection(concepts=COIN, epsilon=1.0), draws=40, size=4
)


def _batch_as_it_is(batch: Sequence[tuple[int, int]], rng: Randomness) -> Hypothesis:
    # When the sanitizer seems to have failed, the batch itself is passed on.
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
        "sparse-sample-without-bottom",
        "an element that only one list has can come out with a large probability",
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
        "forty draws from four examples, priced as if each were drawn once",
        lambda dataset, rng: _SAMPLE_TOO_LARGE.learn(dataset, rng=rng),
        OneQuestion(zero=coins(2, 4), one=coins(1, 4), notice=says(0)),
    ),
    Control.one_shot(
        "batch-instead-of-synthetic",
        "a learner looks whether the sanitizer failed, and if so uses the batch itself",
        _batch_as_it_is,
        OneQuestion(zero=[(0, 1), (0, 1)], one=[(0, 0), (0, 1)], notice=says(0)),
    ),
)
