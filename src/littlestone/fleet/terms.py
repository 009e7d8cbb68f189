"""What a fleet was made with, whichever engine runs it: public, and the same for ever."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

from littlestone import require
from littlestone.errors import SnapshotError, StoreError
from littlestone.fleet.per_key import PerKey
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form

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
    """The request it answers, as JSON, if a command made it; and a hash of what is promised."""
    fingerprint: bytes
    shards: int
    max_keys: int
    users: str | None = None
    """The column of the users whose events are counted; None if nobody is."""

    @classmethod
    def planned(
        cls,
        recipe: PrivateLearner,
        *,
        fingerprint: bytes,
        shards: int = 64,
        max_keys: int = 1,
        users: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> "Terms":
        """The terms of a new fleet, under a name that no other has."""
        require_shards(shards=shards)
        # It refuses what it cannot promise anything for.
        PerKey(learner=recipe, max_keys=max_keys, users=users)
        form = canonical_form(recipe)
        seal = _seal(form, max_keys, users)
        return cls(
            identity=secrets.token_hex(16),
            recipe=form,
            options=json.dumps({**(options or {}), _SEAL: seal}, sort_keys=True),
            fingerprint=fingerprint,
            shards=shards,
            max_keys=max_keys,
            users=users,
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


def require_shards(**named: int) -> None:
    """Refuse more parts than a mark has lines for; whoever charges a book asks first."""
    require.integer(**named, at_least=1)
    for name, value in named.items():
        if value > MOST_SHARDS:
            raise ValueError(f"{name} must be at most {MOST_SHARDS}, got {name}={value!r}")


def recipe_of(terms: Terms) -> PrivateLearner:
    """The learner that the fleet was made for, whatever would be chosen for its request now."""
    with _finding_damage():
        seal = _seal(terms.recipe, terms.max_keys, terms.users)
        if json.loads(terms.options)[_SEAL] != seal:
            raise StoreError(
                f"the recipe of this fleet does not match its hash: it was altered or damaged. "
                f"Bring back the terms that it was made with; found is {terms.recipe} for "
                f"max_keys={terms.max_keys} and users={terms.users!r}"
            )
        try:
            return recipe_from_form(terms.recipe)
        except SnapshotError as problem:
            raise StoreError(f"the recipe of this fleet cannot be read: {problem}") from problem


@contextmanager
def _finding_damage() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as problem:
        raise StoreError(
            f"the terms of this fleet are damaged: {problem!r}. Bring back those that it was made "
            f"with"
        ) from problem


def _seal(form: str, max_keys: int, users: str | None) -> str:
    """Of all that is promised: to people under so many keys, or to users, by this recipe."""
    return hashlib.sha256(json.dumps([max_keys, users, form]).encode()).hexdigest()
