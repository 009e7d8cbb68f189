"""The ledger of a fleet is JSON that says what is public and who pays what."""

import json

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.runs.fleet.per_key import PerKey
from littlestone.runs.fleet.terms import fleet_ledger, list_ledger

LEARNER = LazyForest.calibrated(
    concepts=Points(), rounds=100, epsilon=1.0, delta=1e-6, max_contributions=2
)


def test_the_entry_is_per_example_and_the_person_pays_for_a_group() -> None:
    fleet = PerKey(learner=LEARNER, max_keys=3)
    ledger = fleet_ledger(fleet, {"keys": 5, "rounds": 70})
    assert json.loads(json.dumps(ledger, allow_nan=False)) == ledger
    [entry] = ledger["entries"]
    assert entry["mechanism"] == "LazyForest" and entry["rounds"] == {"first": 1, "last": 100}
    assert entry["cost"] == {"epsilon": 1.0, "delta": 1e-6}
    assert (entry["keys"], entry["rounds played"]) == (5, 70)
    promised = fleet.guarantee()
    assert ledger["person"]["cost"] == {"epsilon": promised.epsilon, "delta": promised.delta}
    assert promised.epsilon == 6.0
    assert "public" in ledger["promise"] and len(ledger["public"]) == 2


def test_no_promise_is_none_and_never_a_number() -> None:
    ledger = fleet_ledger(PerKey(learner=LEARNER, max_keys=50), {"keys": 1, "rounds": 1})
    assert ledger["person"]["cost"] == {"epsilon": None, "delta": None}


def test_a_blocklist_pays_once_for_all_its_keys() -> None:
    learner = PrivateKeys(rounds=100, epsilon=1.0, delta=1e-6, max_contributions=2)
    ledger = list_ledger(learner, "a promise", {"rounds": 70})
    assert json.loads(json.dumps(ledger, allow_nan=False)) == ledger
    [entry] = ledger["entries"]
    assert entry["mechanism"] == "PrivateKeys" and entry["rounds played"] == 70
    assert entry["cost"] == {"epsilon": 1.0, "delta": 1e-6} and "keys" not in entry
    assert ledger["person"]["cost"]["epsilon"] == 2.0 and ledger["promise"] == "a promise"
