"""Every learner that applies, ranked by what is proved about it."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.sanitized_batches.recipe import SanitizedBatches
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts

Setting = Literal["realizable", "agnostic"]
AdversaryKind = Literal["adaptive", "oblivious"]

FAILURE: Final = 0.05
# Measured against the adaptive adversaries at dimensions 2 and 3: 1.23 to 1.27.
FOREST_FACTOR: Final = 1.27
# Below this share of the rounds a bound says more than a rule that never learns.
USEFUL_SHARE: Final = 0.25
AFFORDABLE: Final = {"rounds": (10**9, "{:,} rounds"), "epsilon": (64.0, "epsilon = {:g}")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One learner for the job, with its mistakes (in the agnostic setting, its regret)."""

    name: str
    recipe: Any
    bound: float
    """Proved; exceeded with probability ``FAILURE`` at most."""
    expected: float
    """A bound on the mean, which candidates are ranked by; proved, or else calibrated."""
    calibrated: bool
    """Whether ``expected`` is a prediction without a proof."""
    practical: str = ""
    """Why it is taken although no bound is known for it."""

    @property
    def reason(self) -> str:
        if self.calibrated:
            return "nothing useful is proved for these numbers; the mean is from its calibration"
        return self.practical or "proved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates, the best first, and why the others do not apply."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, str]


def rank(
    concepts: ConceptClass,
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    setting: Setting,
    adversary: AdversaryKind,
) -> Ranking:
    """Rank every applicable learner by a bound on its mean; spend nothing."""
    require.usual(epsilon=epsilon, delta=delta)
    budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    question = Question(concepts, budget, setting, adversary)
    found, refused = [], {}
    for name in _builders(setting, adversary):
        try:
            found.append(question.candidate(name))
        except (ValueError, LittlestoneError) as refusal:
            refused[name] = str(refusal)
    ranked = tuple(sorted(found, key=lambda candidate: (candidate.expected, candidate.bound)))
    return Ranking(candidates=ranked, refused=refused)


Builder = Callable[..., Any]


def _builders(setting: Setting, adversary: AdversaryKind) -> dict[str, Builder]:
    experts = "exponential-weights" if adversary == "adaptive" else "shrinking-dartboard"
    agnostic: dict[str, Builder] = {
        "agnostic-finite": partial(AgnosticFinite, adversary=adversary),
        "sanitized-batches": SanitizedBatches,
        "sanitized-experts": partial(SanitizedExperts, experts=experts),
    }
    if setting == "agnostic":
        return agnostic
    return {
        "private-majority": PrivateMajority,
        "private-witnesses": PrivateWitnesses,
        "private-keys": PrivateKeys,
        "lazy-forest": partial(_forest, LazyForest.calibrated, 5),
        "lazy-forest (proved)": partial(_forest, LazyForest.proved, 3),
        **agnostic,
    }


def _forest(build: Builder, deepest: int, *, concepts: ConceptClass, **budget: Any) -> LazyForest:
    """A forest, if its dimension is one for which it can be planned at all."""
    dimension = concepts.littlestone_dimension
    if dimension > deepest:
        raise ValueError(
            f"its mistakes are doubly exponential in the Littlestone dimension, here {dimension}; "
            f"beyond {deepest} no horizon is long enough"
        )
    forest: LazyForest = build(concepts=concepts, **budget)
    return forest


@dataclass(frozen=True, slots=True)
class Question:
    """What learner is asked for."""

    concepts: ConceptClass
    budget: dict[str, Any]
    setting: Setting
    adversary: AdversaryKind

    def candidate(self, name: str, **instead: Any) -> Candidate:
        """Means are compared with means; bounds that hold with probability 95 % stand beside."""
        build = _builders(self.setting, self.adversary)[name]
        recipe = build(concepts=self.concepts, **{**self.budget, **instead})
        if self.setting == "realizable":
            bound = recipe.mistake_bound(failure_probability=FAILURE)
            expected = recipe.expected_mistake_bound()
        else:
            bound = recipe.regret_bound(failure_probability=FAILURE)
            expected = recipe.expected_regret_bound()
        calibrated = name == "lazy-forest" and expected >= recipe.rounds
        if calibrated:
            predicted = FOREST_FACTOR * (recipe.plan.mistakes_per_layer[0] + recipe.plan.margins[0])
            expected = min(predicted, expected)
        return Candidate(
            name=name, recipe=recipe, bound=bound, expected=expected, calibrated=calibrated
        )

    def what_would_help(self, name: str) -> Iterator[str]:
        """The smallest power of two times the rounds, or epsilon, at which this one is useful."""
        for changed, (largest, words) in AFFORDABLE.items():
            value = self.budget[changed]
            doublings = range(1, 1 + max(0, math.floor(math.log2(largest / value))))
            # Whoever has more of it is no worse off: bisection.
            least = bisect_left(
                doublings, True, key=lambda k: self.would_be_useful(name, **{changed: value * 2**k})
            )
            if least < len(doublings):
                yield f"{words.format(value * 2 ** doublings[least])} would change that"

    def would_be_useful(self, name: str, **instead: Any) -> bool:
        try:
            candidate = self.candidate(name, **instead)
        except (ValueError, LittlestoneError):
            return False
        return bool(candidate.expected <= USEFUL_SHARE * candidate.recipe.rounds)
