"""Describe what a user wants: one value with one set of defaults for all interfaces.

The options of ``littlestone learn`` and of fleets, the bodies of ``POST /runs``, TOML files and the
parameters of the River and scikit-learn classifiers are views of it.
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, cast

from littlestone import require
from littlestone.choose.auto import auto, class_over
from littlestone.choose.catalogue import CLASSES, LEARNERS, class_from_spec, lookup
from littlestone.concepts.protocols import ConceptClass, OnlineClass
from littlestone.concepts.schema import Schema
from littlestone.errors import SnapshotError, StoreError
from littlestone.learners.forms import form_of, from_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.type_checks import fits, is_a, require_fit

SETTINGS: Final = ("agnostic", "realizable")
ADVERSARIES: Final = ("oblivious", "adaptive")
_KEPT: Final = ("rounds", "epsilon", "delta", "max_contributions")
"""The fields of a request that a recipe may have, if its learner needs them."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to learn, for how long, at which price, and against whom.

    Args:
        over: A ``Schema`` or its declaration (a mapping), whose rules are then learned; or a
            concept class, or its name on the command line, as in ``"thresholds:64"``.
        rounds: The most examples that will ever be learned from; some learners need none.
        epsilon: The budget for one example.
        delta: The same; learners that do not need it ignore it.
        max_contributions: The most examples of one user, whose promise is then for all of them.
        user: What identifies a user: the column of a table, the field of an event. With it
            ``max_contributions`` is enforced, without it the caller vouches for it.
        setting: ``agnostic`` assumes nothing; ``realizable``: some concept fits all examples.
        adversary: ``oblivious`` streams do not react to what is published; ``adaptive`` ones may.
            Only accuracy depends on it. Privacy holds against both.
        learner: A private learner of the catalogue, or ``auto``.

    >>> request = Request(over="thresholds:64", rounds=10_000)
    >>> type(request.recipe()).__name__, str(request.recipe().guarantee())
    ('DisjointBatches', 'ε = 1')
    >>> Request.from_json(request.to_json()) == request
    True
    """

    over: Any = field(compare=False)
    rounds: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-6
    max_contributions: int = 1
    user: str | None = None
    setting: str = "agnostic"
    adversary: str = "oblivious"
    learner: str = "auto"
    space: ConceptClass | Schema = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require.fields_fit(self, "user", "setting", "adversary", "learner")
        object.__setattr__(self, "space", _space(self.over))
        require.positive(epsilon=self.epsilon)
        require.probability(delta=self.delta)
        require.integer(max_contributions=self.max_contributions, at_least=1)
        if self.rounds is not None:
            require.integer(rounds=self.rounds, at_least=1)
        if self.user == "":
            raise ValueError(f"user must be a name, got user={self.user!r}")
        for name, words in (("setting", SETTINGS), ("adversary", ADVERSARIES)):
            if (got := getattr(self, name)) not in words:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, words))}, got {name}={got!r}"
                )
        if self.learner != "auto":
            entry = lookup(LEARNERS, self.learner, kind="learner")
            if not entry.private:
                raise ValueError(
                    f"learner must be private to publish anything, got learner={self.learner!r}"
                )
            if self.rounds is None and entry.needs_rounds:
                raise ValueError(f"rounds must be declared for {self.learner}, got rounds=None")

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, files: bool = True) -> "Request":
        """Parse a request from JSON, HTTP bodies or TOML tables.

        Exactly one of ``schema`` and ``class`` says what is learned; ``max-contributions`` and
        ``max_contributions`` are the same.

        Args:
            data: The request; missing keys have their defaults.
            files: Whether a class may be described by a file of this machine.

        Raises:
            ValueError: A key is unknown, a value is wrong, or no learner applies.
        """
        given = {key.replace("-", "_"): value for key, value in data.items() if value is not None}
        schema, spec = given.pop("schema", None), given.pop("class", None)
        if (schema is None) == (spec is None):
            raise ValueError("exactly one of schema and class must be given")
        for key in given.keys() - set(NAMES):
            near = difflib.get_close_matches(key, NAMES, n=1, cutoff=0)
            raise ValueError(f"a request has no {key!r}; the nearest is {near[0]!r}")
        if schema is not None:
            if not isinstance(schema, Mapping | list):
                raise ValueError(
                    f"schema must map field names to declarations, got {require.shown(schema)}"
                )
            return cls(over=schema, **given)
        if is_a(spec, Mapping):
            form = json.dumps(spec, sort_keys=True, separators=(",", ":"))
            return cls(over=from_form(form, object), **given)
        if not is_a(spec, str):
            raise ValueError(f"class must be written like 'thresholds:64', got class={spec!r}")
        if not files and str in lookup(CLASSES, spec.partition(":")[0], kind="class").arguments:
            raise ValueError(f"class must not name a file of the server, got {spec!r}; send schema")
        return cls(over=spec, **given)

    def to_json(self) -> dict[str, Any]:
        """Return the request as plain JSON values, which ``from_json`` parses."""
        said = {name: getattr(self, name) for name in NAMES}
        if isinstance(self.space, Schema):
            return {"schema": self.space.to_json(), **said}
        return {"class": self.over if isinstance(self.over, str) else form_of(self.over), **said}

    @property
    def concepts(self) -> ConceptClass:
        """Return the class that is learned."""
        if isinstance(self.space, Schema):
            return class_over(self.space, setting=self.setting)
        return self.space

    def recipe(self) -> PrivateLearner:
        """Return the learner of this request: a function of public values."""
        concepts = self.concepts
        budget: Any = {name: getattr(self, name) for name in ("rounds", "epsilon", "delta")}
        if self.learner == "auto":
            recipe: Any = auto(
                concepts,
                setting=self.setting,  # type: ignore[arg-type]
                adversary=self.adversary,  # type: ignore[arg-type]
                **budget,
            )
        else:
            recipe = LEARNERS[self.learner].build(concepts, **budget)
        found = cast(PrivateLearner, replace(recipe, max_contributions=self.max_contributions))
        _ = found.label_count  # rejects more labels than it can tell apart
        return found

    def stored_recipe(self, form: str) -> PrivateLearner:
        """Return the stored recipe of this request, even if the chooser would choose another.

        Raises:
            StoreError: The form cannot be read, or is a recipe for other examples, another horizon
                or a larger budget.
        """
        try:
            recipe = recipe_from_form(form)
        except SnapshotError as problem:
            raise StoreError(f"the stored recipe cannot be read: {problem}") from problem
        over: Any = recipe.concepts
        if isinstance(self.space, Schema):
            over = recipe.concepts.domain
            if is_a(over, Schema) and over.refines(self.space):
                over = self.space
        most, cost = PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta), recipe.per_example
        kind = type(recipe).__name__
        terms = {name: getattr(recipe, name, getattr(self, name)) for name in _KEPT}
        for name, stored, wanted in (
            ("schema" if isinstance(self.space, Schema) else "class", over, self.space),
            *((name, stored, getattr(self, name)) for name, stored in terms.items()),
            ("budget", most if cost.within(most) else cost, most),
            ("learner", kind, kind if self.learner == "auto" else LEARNERS[self.learner].makes),
        ):
            if stored != wanted:
                raise StoreError(
                    f"what was stored is damaged: its recipe has {name} {stored!s:.200}, and the "
                    f"request {wanted!s:.200}"
                )
        return recipe

    def differences(self, other: "Request") -> list[str]:
        """Return the names of the parts in which ``other`` differs."""
        names = ("space", *NAMES)
        return [name for name in names if getattr(self, name) != getattr(other, name)]


NAMES: Final = tuple(part.name for part in fields(Request) if part.name not in ("over", "space"))
"""The fields of a request except what it is over."""


def _space(over: Any) -> ConceptClass | Schema:
    if is_a(over, str):
        return class_from_spec(over)
    if is_a(over, Mapping):
        return Schema.from_mapping(over)
    if is_a(over, list | tuple):
        return Schema.from_json(list(over))
    if is_a(over, Schema) or fits(over, ConceptClass):
        return cast("ConceptClass | Schema", over)
    if fits(over, OnlineClass):
        require_fit("over", over, ConceptClass)
    raise ValueError(
        f"over must be a schema, a concept class or the name of one, as in 'thresholds:64', got "
        f"over={require.shown(over):.200}"
    )
