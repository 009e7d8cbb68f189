"""What picks a learner for whoever names none, and goes on with the one that was picked once."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from littlestone import require
from littlestone.catalogue import LEARNERS, lookup
from littlestone.concepts.capabilities import Branching, Descending, SetsOfKeys
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.errors import SnapshotError, StoreError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.kept_recipes import recipe_from_form
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.learners.recipe_forms import canonical_form
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
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
            alike=many,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a learner is chosen by: public values, which files, services and fleets are told.

    ``learner`` is a name in the catalogue, or ``auto`` for the default one. What ``auto`` picks may
    change with the library; whoever has kept the form of a recipe goes on with that one (``kept``).

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> choice = Choice(space=Thresholds(99), rounds=1000)
    >>> earlier = replace(choice.plan(), planned=False)  # what auto picked once
    >>> choice.kept(canonical_form(earlier)) == earlier
    True
    """

    space: ConceptClass | Schema
    learner: str = "auto"
    setting: str = "auto"
    """For ``auto``; ``auto`` itself assumes nothing, and is ``agnostic``."""
    adversary: str = "oblivious"
    rounds: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-7
    max_contributions: int = 1

    def __post_init__(self) -> None:
        require.integer(max_contributions=self.max_contributions, at_least=1)
        PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)  # refuses what means nothing
        if self.setting == "auto":
            # Whether some rule will always fit cannot be known before the data, nor read off them.
            object.__setattr__(self, "setting", "agnostic")

    @property
    def concepts(self) -> ConceptClass:
        if isinstance(self.space, Schema):
            return class_over(self.space, setting=self.setting)
        return self.space

    def plan(self) -> PrivateLearner:
        """The learner that is chosen by these values now."""
        recipe = self._named(rounds=self.rounds, epsilon=self.epsilon, delta=self.delta)
        if self.max_contributions == 1:
            return cast(PrivateLearner, recipe)
        return cast(PrivateLearner, replace(recipe, max_contributions=self.max_contributions))

    def _named(self, **budget: Any) -> Any:
        if self.learner == "auto":
            return default_learner(
                self.concepts, setting=self.setting, adversary=self.adversary, **budget
            )
        entry = lookup(LEARNERS, self.learner, kind="learner")
        if not entry.private:
            raise ValueError(f"learner must be private to publish anything, got {self.learner!r}")
        if self.rounds is None:
            raise ValueError(f"rounds must be declared for {self.learner}, got rounds=None")
        return entry.build(self.concepts, **budget)

    def kept(self, form: str) -> PrivateLearner:
        """The learner whose form was kept, whatever would be chosen now.

        StoreError if it is not one that these values could have chosen: another budget, horizon or
        class, a learner of another name.
        """
        try:
            recipe = recipe_from_form(form, known=(self.concepts,))
        except SnapshotError as problem:
            with suppress(ValueError):  # what cannot be planned is another, too
                if canonical_form(now := self.plan()) == form:
                    return now
            raise StoreError(
                f"the recipe that was kept cannot be made again ({problem}), and what is asked for "
                f"is another. Go on with the version of littlestone that has made it, or begin "
                f"anew (with another budget). Kept was {form!s:.2000}"
            ) from problem
        for name, (asked, held) in self._terms(recipe).items():
            if asked != held:
                raise StoreError(
                    f"{name} must be what it was at the first start, {_unlike(held, asked)}, got "
                    f"{_unlike(asked, held)}; else begin anew, with another budget"
                )
        return recipe

    def _terms(self, recipe: PrivateLearner) -> dict[str, tuple[Any, Any]]:
        """By argument: what is asked for, and what ``recipe`` has of it."""
        terms: dict[str, tuple[Any, Any]] = {
            name: (asked := getattr(self, name), getattr(recipe, name, asked))
            for name in ("epsilon", "delta", "rounds", "max_contributions")
        }
        most, cost = PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta), recipe.per_example
        terms["budget"] = (most, most if cost.within(most) else cost)
        if isinstance(self.space, Schema):  # over which there are several classes
            terms["schema"] = (self.space, recipe.concepts.domain)
        else:
            terms["class"] = (self.space, recipe.concepts)
        with suppress(ValueError):  # of a name that is not known any more
            if self.learner != "auto":
                terms["learner"] = (type(self.plan()).__name__, type(recipe).__name__)
        return terms


def _unlike(one: Any, other: Any) -> str:
    """What is said of one of two that differ: of a schema, the fields that do."""
    over = [getattr(each, "schema", None) for each in (one, other)]
    if None not in over and over[0] != over[1]:  # of classes that may look alike otherwise
        one, other = over
    if isinstance(one, Schema) and isinstance(other, Schema):
        one = [part for part in one.fields if part not in other.fields] or one
    return f"{one!s:.300}"
