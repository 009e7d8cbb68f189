"""The learner that is taken if nobody names one: one function of public values, never of data."""

from typing import Any, Final

from littlestone.choose.ranking import AdversaryKind, Setting, rank
from littlestone.concepts.capabilities import Branching, Descending, SetsOfKeys
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.recipe import MOST_CONCEPTS
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.run import PrivateLearner

# From so many questions on a draw of a tree one question deeper takes many seconds.
_MOST_QUESTIONS: Final = {3: 256, 2: 4096}


def class_over(schema: Schema, *, setting: str = "agnostic") -> ConceptClass:
    """Return the rules over a schema: decision trees, or a list of rules if one must fit all rows.

    Trees are as deep as the schema's questions, which are public, leave time for.

    >>> class_over(Schema.from_mapping({"delay": {"grid": [0, 15]}})).depth
    3
    """
    if setting == "realizable":
        return Stumps(schema, depth=1)
    asked = len(DecisionTrees(schema, DEEPEST).conditions)
    depth = max((deep for deep, most in _MOST_QUESTIONS.items() if asked <= most), default=1)
    return DecisionTrees(schema, depth)


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
    adversary, and in the ``realizable`` setting, where some concept fits all examples, it is the
    learner with the best proved mean. Sets of arbitrary keys have a learner of their own.
    """
    if setting == "agnostic" and adversary == "oblivious" and concepts.size is not None:
        return DisjointBatches(concepts=concepts, rounds=rounds, epsilon=epsilon)
    if rounds is None:
        raise ValueError("rounds must be declared: noise is calibrated to it, got rounds=None")
    budget: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    if isinstance(concepts, SetsOfKeys) and concepts.size is None:
        return PrivateKeys(concepts=concepts, **budget)
    if setting == "realizable" and isinstance(concepts, Descending):
        return PrivateWitnesses(concepts=concepts, **budget)
    if setting == "realizable" and concepts.size is not None:
        return PrivateMajority(concepts=concepts, **budget)
    if isinstance(concepts, Branching) and (concepts.size or 0) > MOST_CONCEPTS:
        raise ValueError(
            "adversary must be 'oblivious' (events do not react to the rules), or setting "
            f"'realizable', for so large a schema, got adversary={adversary!r}"
        )
    ranking = rank(concepts, setting=setting, adversary=adversary, **budget)
    if not ranking.candidates:
        reasons = "; ".join(f"{name}: {why}" for name, why in ranking.refused.items())
        raise ValueError(f"no learner applies to {concepts!r}. {reasons}")
    best: PrivateLearner = ranking.candidates[0].recipe
    return best
