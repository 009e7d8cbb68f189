"""Describe the terms of a fleet on any engine, and its cost."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

from littlestone import require
from littlestone.errors import SnapshotError, StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.fleet.commits import MOST_SHARDS
from littlestone.runs.fleet.per_key import PerKey

_SEAL: Final = "recipe seal"
_DAMAGE: Final = (
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    ValueError,  # from JSON, a class or a budget
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The name of a fleet, its learner, the fingerprint of its secret, and its users."""

    identity: str
    recipe: str
    """The canonical form of the learner of each key."""
    options: str
    """The request of the command as JSON, if there is one, and a hash of the promise."""
    fingerprint: bytes
    shards: int
    max_keys: int
    users: str | None = None
    """The column of the users whose events are counted; None if none are."""

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
        """Return the terms of a new fleet, under a new name."""
        require_shards(shards=shards)
        # Rejects a learner without a promise.
        PerKey(learner=recipe, max_keys=max_keys, users=users)
        form = canonical_form(recipe)
        seal = terms_seal(form, max_keys, users, shards)
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
        """Parse terms, and report damage."""
        with reporting_damage():
            fields = json.loads(text)
            return cls(**{**fields, "fingerprint": bytes.fromhex(fields["fingerprint"])})

    def to_json(self) -> str:
        """Return the terms as JSON."""
        return json.dumps({**asdict(self), "fingerprint": self.fingerprint.hex()}, indent=1)

    def require_intact(self) -> None:
        """Reject terms that are not those of the beginning."""
        with reporting_damage():
            seal = terms_seal(self.recipe, self.max_keys, self.users, self.shards)
            if json.loads(self.options)[_SEAL] != seal:
                raise StoreError(
                    f"the recipe of this fleet does not match its hash: it was altered or damaged. "
                    f"Restore the terms that it was created with; found {self.recipe} for "
                    f"max_keys={self.max_keys}, users={self.users!r} and shards={self.shards}"
                )

    def require_recipe(self, recipe: PrivateLearner) -> None:
        """Reject a learner that is not that of the fleet."""
        if canonical_form(recipe) != self.recipe:
            raise StoreError(
                f"this fleet belongs to another recipe: it was created for {self.recipe}, and this "
                f"is {canonical_form(recipe)}. Continue it with its own, or create another fleet"
            )


def require_shards(**named: int) -> None:
    """Reject more parts than a mark has lines; check this before charging a book."""
    require.integer(**named, at_least=1)
    for name, value in named.items():
        if value > MOST_SHARDS:
            raise ValueError(f"{name} must be at most {MOST_SHARDS}, got {name}={value!r}")


def recipe_of(terms: Terms) -> PrivateLearner:
    """Return the learner of the fleet, whatever the chooser would choose today."""
    terms.require_intact()
    with reporting_damage():
        try:
            return recipe_from_form(terms.recipe)
        except SnapshotError as problem:
            raise StoreError(f"the recipe of this fleet cannot be read: {problem}") from problem


@contextmanager
def reporting_damage(
    what: str = "the terms of this fleet are", restore: str = "those that it was created with"
) -> Iterator[None]:
    """Raise a StoreError for what a damaged record makes a parser raise."""
    try:
        yield
    except _DAMAGE as problem:
        raise StoreError(f"{what} damaged: {problem!r}. Restore {restore}") from problem


def terms_seal(form: str, max_keys: int | None, users: str | None, parts: int) -> str:
    """Hash the promise and its parts: in another shard a key would begin again, with its noise."""
    return hashlib.sha256(json.dumps([max_keys, users, parts, form]).encode()).hexdigest()


def fleet_ledger(fleet: PerKey, progress: Mapping[str, int]) -> dict[str, Any]:
    """Return the entry of the fleet: mechanism, cost and rounds of one key, and their sum.

    An example is read by the run of its key alone, so the keys do not add up for it; a person
    under ``max_keys`` keys pays for a group of that many examples. ``progress`` has the number of
    keys and of rounds so far, which are public. The cost is that of all rounds a key may have,
    played or not: stopping early refunds nothing.

    >>> import littlestone as ls
    >>> learner = ls.PrivateMajority(concepts=ls.Thresholds(8), rounds=1000, epsilon=0.5)
    >>> entry = fleet_ledger(PerKey(learner=learner, max_keys=2), {"keys": 3, "rounds": 40})
    >>> entry["person"]["cost"], entry["entries"][0]["cost"]
    ({'epsilon': 1.0, 'delta': 0.0}, {'epsilon': 0.5, 'delta': 0.0})
    """
    learner = fleet.learner
    return {
        "neighbours": "the example of one round is replaced; its key is not",
        "public": ["which keys there are", "the number of rounds of each key"],
        "entries": [
            {
                **_entry(learner, progress["rounds"]),
                "keys": progress["keys"],
                "composition": "parallel over keys: an example pays once",
            }
        ],
        "person": {
            **_counted(fleet),
            "cost": _cost(fleet.guarantee()),
            "by": "group privacy over all examples",
        },
        "promise": fleet.promise,
    }


def _counted(fleet: PerKey) -> dict[str, Any]:
    """Return how many examples a person has, and whether they are counted."""
    most = fleet.learner.max_contributions
    if fleet.users is not None:
        return {"examples under all keys": most, "counted by": fleet.users}
    return {"keys": fleet.max_keys, "examples under each": most, "counted by": None}


def list_ledger(
    learner: PrivateKeys, promise: str, progress: Mapping[str, int], users: str | None = None
) -> dict[str, Any]:
    """Return the entry of one blocklist, whose keys are secret.

    >>> import littlestone as ls
    >>> learner = ls.PrivateKeys(rounds=1000, epsilon=0.5, delta=1e-6, max_contributions=2)
    >>> list_ledger(learner, "", {"rounds": 40})["person"]["cost"]["epsilon"]
    1.0
    """
    return {
        "neighbours": "the event of one round is replaced, and its key with it",
        "public": ["the number of rounds"],
        "entries": [
            {
                **_entry(learner, progress["rounds"]),
                "composition": "none: one mechanism for all keys, however many are listed",
            }
        ],
        "person": {
            "examples": learner.max_contributions,
            "counted by": users,
            "cost": _cost(learner.guarantee()),
            "by": "group privacy over all examples",
        },
        "promise": promise,
    }


def _entry(learner: PrivateLearner, played: int) -> dict[str, Any]:
    return {
        "mechanism": type(learner).__name__,
        "recipe": json.loads(canonical_form(learner)),
        "cost": _cost(learner.per_example),
        "rounds": {"first": 1, "last": learner.rounds},
        "rounds played": played,
    }


def _cost(guarantee: PrivacyGuarantee) -> dict[str, float | None]:
    """Return the cost for JSON, where None is an infinite epsilon."""
    if not guarantee.is_private:
        return {"epsilon": None, "delta": None}
    return {"epsilon": guarantee.epsilon, "delta": guarantee.delta}
