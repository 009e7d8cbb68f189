"""Choose the default learner, and rank all others by their bounds."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from littlestone import require
from littlestone.concepts.capabilities import Branching, SetsOfKeys
from littlestone.concepts.classes.decision_trees import MOST_LISTED, DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.entry import LearnerEntry, every_learner
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses, systems_of
from littlestone.learners.run import PrivateLearner

Setting = Literal["realizable", "agnostic"]
AdversaryKind = Literal["adaptive", "oblivious"]

FAILURE: Final = 0.05
# Below this share of the rounds a bound is better than a rule that never learns.
USEFUL_SHARE: Final = 0.25
AFFORDABLE: Final = {"rounds": (10**9, "{:,} rounds"), "epsilon": (64.0, "epsilon = {:g}")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One applicable learner, with its mistakes (in the agnostic setting, its regret)."""

    name: str
    recipe: Any
    bound: float
    """A proved bound; exceeded with probability ``FAILURE`` at most."""
    expected: float
    """A bound on the mean, by which candidates are ranked; proved or calibrated."""
    calibrated: bool
    """Whether ``expected`` is a prediction without a proof."""
    practical: str = ""
    """Why it is chosen although no bound is known for it."""

    @property
    def reason(self) -> str:
        """Return why the candidate is listed."""
        if self.calibrated:
            return "nothing useful is proved for these numbers; the mean is from its calibration"
        return self.practical or "proved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates, the best first, and why the others do not apply."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, str]


def rank(question: "Question") -> Ranking:
    """Rank every applicable learner by a bound on its mean; spend nothing."""
    require.usual(epsilon=question.budget["epsilon"], delta=question.budget["delta"])
    found, refused = [], {}
    for name in _ranked(question.setting):
        try:
            found.append(question.candidate(name))
        except (ValueError, LittlestoneError) as refusal:
            refused[name] = str(refusal)
    ranked = tuple(sorted(found, key=lambda candidate: (candidate.expected, candidate.bound)))
    return Ranking(candidates=ranked, refused=refused)


def _ranked(setting: Setting) -> Mapping[str, LearnerEntry]:
    return {name: entry for name, entry in every_learner().items() if setting in entry.ranked}


@dataclass(frozen=True, slots=True)
class Question:
    """The class and the budget for which a learner is wanted."""

    concepts: ConceptClass
    budget: dict[str, Any]
    setting: Setting
    adversary: AdversaryKind

    def candidate(self, name: str, **instead: Any) -> Candidate:
        """Return a candidate with its mean, which is ranked, and its bound at probability 95 %."""
        entry = _ranked(self.setting)[name]
        recipe = entry.candidate(self.concepts, self.adversary, **{**self.budget, **instead})
        if self.setting == "realizable":
            bound = recipe.mistake_bound(failure_probability=FAILURE)
            expected = recipe.expected_mistake_bound()
        else:
            bound = recipe.regret_bound(failure_probability=FAILURE)
            expected = recipe.expected_regret_bound()
        calibrated = entry.predicted is not None and expected >= recipe.rounds
        if entry.predicted is not None and calibrated:
            expected = min(entry.predicted(recipe), expected)
        return Candidate(
            name=name, recipe=recipe, bound=bound, expected=expected, calibrated=calibrated
        )

    def what_would_help(self, name: str) -> Iterator[str]:
        """Yield the smallest power of two times the rounds, or epsilon, that makes it useful."""
        for changed, (largest, words) in AFFORDABLE.items():
            value = self.budget[changed]
            doublings = range(1, 1 + max(0, math.floor(math.log2(largest / value))))
            # More of it never hurts, so bisection works.
            least = bisect_left(
                doublings, True, key=lambda k: self.would_be_useful(name, **{changed: value * 2**k})
            )
            if least < len(doublings):
                yield f"{words.format(value * 2 ** doublings[least])} would change that"

    def would_be_useful(self, name: str, **instead: Any) -> bool:
        """Return whether a learner would beat a constant rule, with some values replaced."""
        try:
            candidate = self.candidate(name, **instead)
        except (ValueError, LittlestoneError):
            return False
        return bool(candidate.expected <= USEFUL_SHARE * candidate.recipe.rounds)


# Trees grow by asking for the last rule; with few questions three at once are cheap.
_FEW_QUESTIONS: Final = 48


def class_over(schema: Schema, *, setting: str = "agnostic") -> ConceptClass:
    """Return the rules over a schema: decision trees, or a list of rules if one must fit all rows.

    Trees may compare numbers with more cuts than a grid declares, within its range. They ask
    two questions on the way to a leaf, or three if there are few.

    >>> class_over(Schema.from_mapping({"delay": {"grid": [0, 60]}})).schema.fields[0].grid
    (0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60)
    """
    if setting == "realizable":
        return Stumps(schema, depth=1)
    refined = schema.refined()
    questions = len(DecisionTrees(refined, 1).conditions)
    return DecisionTrees(refined, 3 if questions <= _FEW_QUESTIONS else 2)


def auto(
    concepts: ConceptClass,
    *,
    rounds: int | None,
    epsilon: float,
    delta: float,
    setting: Setting,
    adversary: AdversaryKind,
) -> PrivateLearner:
    """Choose the learner for a class; privacy holds on every stream, whatever is chosen.

    In the ``agnostic`` setting no concept needs to fit. On ``oblivious`` streams, which do not
    react to what is published, rules are drawn from disjoint batches. Against an ``adaptive``
    adversary, and in the ``realizable`` setting, where some concept fits all examples, the learner
    with the best proved mean is chosen. Sets of arbitrary keys have their own learner.
    """
    if setting == "agnostic" and adversary == "oblivious" and concepts.size is not None:
        return DisjointBatches(concepts=concepts, rounds=rounds, epsilon=epsilon)
    if rounds is None:
        raise ValueError("rounds must be declared: noise is calibrated to it, got rounds=None")
    budget: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    if isinstance(concepts, SetsOfKeys) and concepts.size is None:
        return PrivateKeys(concepts=concepts, **budget)
    if setting == "realizable" and systems_of(concepts):
        return PrivateWitnesses(concepts=concepts, **budget)
    if setting == "realizable" and concepts.size is not None:
        return PrivateMajority(concepts=concepts, **budget)
    if isinstance(concepts, Branching) and (concepts.size or 0) > MOST_LISTED:
        raise ValueError(
            "adversary must be 'oblivious' (events do not react to the rules), or setting "
            f"'realizable', for so large a schema, got adversary={adversary!r}"
        )
    ranking = rank(Question(concepts, budget, setting, adversary))
    if not ranking.candidates:
        reasons = "; ".join(f"{name}: {why}" for name, why in ranking.refused.items())
        raise ValueError(f"no learner applies to {concepts!r}. {reasons}")
    best: PrivateLearner = ranking.candidates[0].recipe
    return best
