"""The one function that picks a learner for whoever names none: files, River, scikit-learn."""

from dataclasses import replace
from typing import Any, Final, cast

from littlestone import require
from littlestone.catalogue import LEARNERS, lookup
from littlestone.concepts.capabilities import Branching, Descending, SetsOfKeys
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.run import PrivateLearner
from littlestone.recommendation import recommend

# From so many questions on a draw of a tree one question deeper takes many seconds.
_MOST_QUESTIONS: Final = {3: 256, 2: 4096}
# How many linear rules are tried besides trees; docs/practice.md says how it was chosen. Over fewer
# fields than this a tree says the same, and is easier to read.
_DIRECTIONS: Final = 2048
_FEWEST_FIELDS: Final = 4


def class_over(schema: Schema, *, setting: str = "agnostic") -> ConceptClass:
    """The rules over a schema: decision trees, or a pool that can be listed if one shall fit all.

    Trees are as deep as the schema's questions, which are public, leave time for.

    >>> class_over(Schema.from_mapping({"delay": {"grid": [0, 15]}})).depth
    3
    """
    if setting == "realizable":
        return Stumps(schema, depth=1)
    asked = len(DecisionTrees(schema, DEEPEST).conditions)
    depth = max((deep for deep, most in _MOST_QUESTIONS.items() if asked <= most), default=1)
    return DecisionTrees(schema, depth)


def default_learner(
    concepts: ConceptClass,
    *,
    rounds: int | None,
    epsilon: float,
    delta: float,
    setting: str = "agnostic",
    adversary: str = "oblivious",
) -> PrivateLearner:
    """What to run if nobody says otherwise: a function of public values, never of data.

    ``agnostic``: no concept needs to fit. On ``oblivious`` streams, a file for instance, rules
    are drawn from disjoint batches: over a schema, trees and linear rules; their watch is planned
    if the rounds are known. Where an ``adaptive``
    adversary attacks the rule on display, and in the ``realizable`` setting, where some concept
    fits all examples, it is the learner with the best proved mean. Sets of any keys have a learner
    of their own.
    Privacy holds on every stream.

    >>> from littlestone.concepts.classes.sparse_sets import KeySets
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> budget = {"rounds": 10**5, "epsilon": 1.0, "delta": 1e-6}
    >>> practical = default_learner(Thresholds(99), **budget)
    >>> type(practical).__name__, practical.planned
    ('DisjointBatches', True)
    >>> type(default_learner(Thresholds(99), **budget, adversary="adaptive")).__name__
    'AgnosticFinite'
    >>> type(default_learner(Thresholds(99), **budget, setting="realizable")).__name__
    'PrivateWitnesses'
    >>> type(default_learner(KeySets(), **budget)).__name__
    'PrivateKeys'
    """
    if setting not in ("agnostic", "realizable"):
        raise ValueError(f"setting must be 'agnostic' or 'realizable', got setting={setting!r}")
    if adversary not in ("adaptive", "oblivious"):
        raise ValueError(
            f"adversary must be 'adaptive' or 'oblivious', got adversary={adversary!r}"
        )
    if setting == "agnostic" and adversary == "oblivious" and concepts.size is not None:
        trees = isinstance(concepts, Branching)
        many = isinstance(concepts, Branching) and len(concepts.schema.fields) >= _FEWEST_FIELDS
        return DisjointBatches(
            concepts=concepts,
            rounds=rounds,
            epsilon=epsilon,
            planned=rounds is not None,
            directions=_DIRECTIONS if many else 0,
            asking=trees,
        )
    if rounds is None:
        raise ValueError("rounds must be declared: noise is calibrated to it, got rounds=None")
    require.integer(rounds=rounds, at_least=1)
    budget: dict[str, Any] = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    if isinstance(concepts, SetsOfKeys) and concepts.size is None:
        return PrivateKeys(concepts=concepts, **budget)
    if setting == "realizable" and isinstance(concepts, Descending):
        return PrivateWitnesses(concepts=concepts, **budget)
    if setting == "realizable" and concepts.size is not None:
        return PrivateMajority(concepts=concepts, **budget)
    advice = recommend(concepts, setting=setting, adversary=adversary, **budget)  # type: ignore[arg-type]
    if advice.best is None:
        raise ValueError(f"no learner applies to this class: {advice.explanation}")
    best: PrivateLearner = advice.best.recipe
    return best


def named_learner(
    concepts: ConceptClass,
    name: str,
    *,
    rounds: int | None,
    epsilon: float,
    delta: float,
    setting: str,
    adversary: str,
    max_contributions: int = 1,
) -> PrivateLearner:
    """The private learner of this name in the catalogue; ``auto`` is the default one."""
    require.integer(max_contributions=max_contributions, at_least=1)
    budget: dict[str, Any] = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    recipe: Any
    if name == "auto":
        recipe = default_learner(concepts, setting=setting, adversary=adversary, **budget)
    else:
        entry = lookup(LEARNERS, name, kind="learner")
        if not entry.private:
            raise ValueError(f"learner must be private to publish anything, got {name!r}")
        if rounds is None:
            raise ValueError(f"rounds must be declared for {name}, got rounds=None")
        recipe = entry.build(concepts, **budget)
    if max_contributions == 1:
        return cast(PrivateLearner, recipe)
    return cast(PrivateLearner, replace(recipe, max_contributions=max_contributions))
