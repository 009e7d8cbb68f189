"""What a fleet or a blocklist has cost whom, as plain JSON that another accountant can read."""

import json
from collections.abc import Mapping
from typing import Any

from littlestone.fleet.per_key import PerKey
from littlestone.learners.forms import canonical_form
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee


def fleet_ledger(fleet: PerKey, standing: Mapping[str, int]) -> dict[str, Any]:
    """The entry of the fleet: mechanism, cost and rounds of one key, and how keys add up.

    An example is read by the run of its key alone, so the keys do not add up for it; a person
    under ``max_keys`` keys pays for a group of that many examples. ``standing`` has the number of
    keys and of rounds so far, which are public. The cost is that of all rounds a key may have,
    played or not: stopping early gives nothing back.

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
                **_entry(learner, standing["rounds"]),
                "keys": standing["keys"],
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
    """How many examples a person has, and whether anybody counts them."""
    most = fleet.learner.max_contributions
    if fleet.users is not None:
        return {"examples under all keys": most, "counted by": fleet.users}
    return {"keys": fleet.max_keys, "examples under each": most, "counted by": None}


def list_ledger(
    learner: PrivateKeys, promise: str, standing: Mapping[str, int], users: str | None = None
) -> dict[str, Any]:
    """The entry of one blocklist, whose keys are the secret.

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
                **_entry(learner, standing["rounds"]),
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
    """None stands for no promise at all: JSON has no infinity."""
    if not guarantee.is_private:
        return {"epsilon": None, "delta": None}
    return {"epsilon": guarantee.epsilon, "delta": guarantee.delta}
