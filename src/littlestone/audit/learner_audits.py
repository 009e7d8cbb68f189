"""Which adversary goes with which learner: audits that the command line can name."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from littlestone.audit import learner_attacks as attacks
from littlestone.audit import small_learners as small
from littlestone.audit.learner_subjects import RunSubject
from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import TwoWorldAdversary
from littlestone.learners.wrappers.restarting import Restarting
from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon


def _entry(
    recipe: Callable[[float, float], Any], adversary: TwoWorldAdversary, summary: str
) -> AuditEntry:
    return AuditEntry(
        subject=lambda epsilon, delta: RunSubject(recipe(epsilon, delta)),
        adversary=adversary,
        summary=summary,
    )


def _halting_forest(epsilon: float, delta: float) -> Restarting:
    return Restarting(learner=replace(small.early_forest(epsilon, delta), restarts=False))


def _endless_majority(epsilon: float, delta: float) -> UnknownHorizon:
    del delta  # pure
    return UnknownHorizon(learner=small.fresh_majority(epsilon), first_rounds=2)


AUDITS: Mapping[str, AuditEntry] = {
    "lazy-forest": _entry(
        small.listing_forest,
        attacks.ListMembership(),
        "LazyForest: one element exchanged on the last list, two keys at its threshold",
    ),
    "lazy-forest-early": _entry(
        small.early_forest,
        attacks.TwoKeys(),
        "LazyForest with early release: one of two keys counted more, both about to be released",
    ),
    "lazy-forest-switch": _entry(
        small.early_forest,
        attacks.LastSwitch(),
        "LazyForest: one mistake more or less when the last layer is about to switch",
    ),
    "lazy-forest-deep": _entry(
        small.deep_forest,
        attacks.PairsOnTheFirstList(),
        "LazyForest of dimension 2: one pair more or less on the first list",
    ),
    "private-majority": _entry(
        lambda epsilon, _: small.fresh_majority(epsilon),
        attacks.FirstMistake(),
        "PrivateMajority with fresh evidence: a mistake or none, and which witness is drawn",
    ),
    "private-majority-sampled": _entry(
        small.sampled_majority,
        attacks.FirstMistake(),
        "PrivateMajority with sampled votes: a mistake or none, and which concept is drawn",
    ),
    "eager-forest": _entry(
        small.eager_forest,
        attacks.FirstMistake(key="a"),
        "EagerForest: one tree moves or not while the published hypothesis is about to be dropped",
    ),
    "fresh-copies": _entry(
        small.fresh_copies,
        attacks.FirstRelease(),
        "FreshCopies: one example more or less; nothing is published below epsilon = 30 or so",
    ),
    "restarting": _entry(
        _halting_forest,
        attacks.LastSwitch(copies=1),
        "Restarting a LazyForest: the last switch of the second copy",
    ),
    "unknown-horizon": _entry(
        _endless_majority,
        attacks.FirstMistake(after=2),
        "UnknownHorizon of a PrivateMajority: the first mistake of the second epoch",
    ),
}
