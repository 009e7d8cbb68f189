"""What a fleet was made with, whichever engine runs it: public, and the same for ever."""

import hashlib
import json
import secrets
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

from littlestone import require
from littlestone.catalogue import class_from_spec
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.defaults import Choice
from littlestone.errors import StoreError
from littlestone.fleet.per_key import PerKey
from littlestone.learners.recipe_forms import canonical_form
from littlestone.learners.run import PrivateLearner

MOST_SHARDS: Final = 4096
_SEAL: Final = "recipe seal"
_DAMAGE: Final = (
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    ValueError,  # of JSON, of a class, of a budget
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The name of a fleet, its learner, the fingerprint of its secret, and whom it counts."""

    identity: str
    recipe: str
    """The canonical form of the learner of each key."""
    options: str
    """How the command line made it, as JSON, and a hash of what is promised."""
    fingerprint: bytes
    shards: int
    max_keys: int

    @classmethod
    def planned(
        cls,
        recipe: PrivateLearner,
        *,
        fingerprint: bytes,
        shards: int = 64,
        max_keys: int = 1,
        options: dict[str, Any] | None = None,
    ) -> "Terms":
        """The terms of a new fleet, under a name that no other has."""
        require.integer(shards=shards, at_least=1)
        PerKey(learner=recipe, max_keys=max_keys)  # refuses what it cannot promise anything for
        if shards > MOST_SHARDS:
            raise ValueError(f"shards must be at most {MOST_SHARDS}, got shards={shards!r}")
        form = canonical_form(recipe)
        return cls(
            identity=secrets.token_hex(16),
            recipe=form,
            options=json.dumps({**(options or {}), _SEAL: _seal(form, max_keys)}, sort_keys=True),
            fingerprint=fingerprint,
            shards=shards,
            max_keys=max_keys,
        )

    @classmethod
    def from_json(cls, text: str) -> "Terms":
        with _finding_damage():
            fields = json.loads(text)
            return cls(**{**fields, "fingerprint": bytes.fromhex(fields["fingerprint"])})

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "fingerprint": self.fingerprint.hex()}, indent=1)

    def require_recipe(self, recipe: PrivateLearner) -> None:
        """Refuse a learner that is not the fleet's."""
        if canonical_form(recipe) != self.recipe:
            raise StoreError(
                f"this fleet belongs to another recipe: it was made for {self.recipe}, and this is "
                f"{canonical_form(recipe)}"
            )


def choice_from(options: dict[str, Any]) -> Choice:
    """What the learner of each key is chosen by, as these options say."""
    space: ConceptClass | Schema
    if options["schema"] is not None:
        space = Schema.from_mapping(tomllib.loads(options["schema"]))
    else:
        space = class_from_spec(options["class"])
    names = ("learner", "setting", "adversary", "max_contributions")
    said = {name: options[name] for name in names}
    return Choice(space=space, **said, **options["budget"])


def recipe_of(terms: Terms) -> PrivateLearner:
    """The learner that the fleet was made for, whatever would be chosen for its options now."""
    with _finding_damage():
        options, seal = json.loads(terms.options), _seal(terms.recipe, terms.max_keys)
        if options.get(_SEAL, seal) != seal:
            raise StoreError(
                f"the recipe of this fleet does not match its hash: it was altered or damaged. "
                f"Bring back the terms that it was made with; found is {terms.recipe} for "
                f"max_keys={terms.max_keys}"
            )
        if options.keys() <= {_SEAL}:
            raise StoreError(
                "this fleet was made by Python, not by a command: it does not hold the options of "
                "one. Go on with it from Python, with the recipe that it was made for"
            )
        return choice_from(options).kept(terms.recipe)


@contextmanager
def _finding_damage() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as problem:
        raise StoreError(
            f"the terms of this fleet are damaged: {problem!r}. Bring back those that it was made "
            f"with"
        ) from problem


def _seal(form: str, max_keys: int) -> str:
    """Of all that is promised: to people under so many keys, by this recipe for each."""
    return hashlib.sha256(f"{max_keys} {form}".encode()).hexdigest()
