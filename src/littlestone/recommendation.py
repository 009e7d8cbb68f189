"""Which learner, and why: every applicable one, ranked by what is proved about it."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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

    @property
    def reason(self) -> str:
        if self.calibrated:
            return "nothing useful is proved for these numbers; the mean is from its calibration"
        return "proved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """All candidates, the best first, and a paragraph that explains the choice."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, str]
    rounds: int
    explanation: str

    @property
    def best(self) -> Candidate | None:
        return self.candidates[0] if self.candidates else None

    @property
    def useful(self) -> bool:
        """Whether the best learner is expected to beat a constant rule by a clear margin."""
        return self.best is not None and self.best.expected <= USEFUL_SHARE * self.rounds


@require.checked
def recommend(
    concepts: ConceptClass,
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    setting: Setting = "realizable",
    adversary: AdversaryKind = "adaptive",
) -> Recommendation:
    """Rank every applicable learner and say why; change nothing and spend nothing.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> advice = recommend(Thresholds(64), rounds=10**5, epsilon=1.0, delta=1e-6)
    >>> advice.best.name, advice.useful
    ('private-witnesses', True)
    """
    require.integer(rounds=rounds, at_least=2)
    require.usual(epsilon=epsilon, delta=delta)
    budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    asked = _Question(concepts, budget, setting, adversary)
    found, refused = [], {}
    for name in _builders(setting, adversary):
        try:
            found.append(asked.candidate(name))
        except (ValueError, LittlestoneError) as refusal:
            refused[name] = str(refusal)
    ranked = tuple(sorted(found, key=lambda candidate: (candidate.expected, candidate.bound)))
    draft = Recommendation(candidates=ranked, refused=refused, rounds=rounds, explanation="")
    return replace(draft, explanation=asked.explained(draft))


Builder = Callable[..., Any]


def _builders(setting: Setting, adversary: AdversaryKind) -> dict[str, Builder]:
    if setting not in ("realizable", "agnostic"):
        raise ValueError(f"setting must be 'realizable' or 'agnostic', got setting={setting!r}")
    if adversary not in ("adaptive", "oblivious"):
        raise ValueError(f"adversary must be 'adaptive' or 'oblivious', got {adversary!r}")
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
class _Question:
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

    def explained(self, draft: Recommendation) -> str:
        what = "mistakes"
        if self.setting == "agnostic":
            what = "mistakes beyond the best concept's"
        best = draft.best
        if best is None:
            reasons = "; ".join(f"{name}: {why}" for name, why in draft.refused.items())
            return f"No learner applies to {self.concepts!r}. {reasons}"
        against = f"against {self.adversary} adversaries"
        if not draft.useful:
            advice = "; ".join(self.what_would_help(best.name))
            return (
                f"No learner is shown to do better than a constant rule in {draft.rounds:,} rounds "
                f"{against} at epsilon = {self.budget['epsilon']:g}: the best, {best.name}, may "
                f"need {best.expected:,.0f} {what}. {advice or 'No affordable change was found.'}"
            )
        if best.calibrated:
            words = f"about {best.expected:,.0f} {what} on average {against}"
        else:
            words = (
                f"at most {best.bound:,.0f} {what} with probability {1 - FAILURE:.0%} {against}, "
                f"and {best.expected:,.0f} on average"
            )
        others = ", ".join(f"{c.name} {c.expected:,.0f}" for c in draft.candidates[1:])
        ranking = f" The others, on average: {others}." if others else ""
        return f"{best.name}: {words}, of {draft.rounds:,} rounds ({best.reason}).{ranking}"

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
