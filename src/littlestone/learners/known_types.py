"""Register the classes that a saved run may hold.

Concept classes, version spaces and hypotheses are known by the package that defines them. Other
packages register their hypotheses, version spaces and learner states with ``codec.register``.
"""

import inspect
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Final

from littlestone.concepts import classes, hypotheses
from littlestone.concepts.keys import KeySet, key_set
from littlestone.concepts.schema import Buckets, Category, LabelledSchema, Numeric, Schema
from littlestone.errors import SnapshotError
from littlestone.learners.codec import register
from littlestone.learners.online.halving import Halving, HalvingState
from littlestone.learners.online.linear import Perceptron, PerceptronState, Winnow, WinnowState
from littlestone.learners.online.sparse_majority import SparseMajority, SparseMajorityState
from littlestone.learners.online.standard_optimal import StandardOptimal, StandardOptimalState
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Charge, Ledger
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold, AboveThresholdRun
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
)
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent, FirstFrequentRun
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease, FrequentReleaseRun
from littlestone.privacy.zcdp import ZeroConcentrated


def _values_of(package: ModuleType) -> Iterator[type]:
    """Yield the public classes with their own equality that a package's modules define."""
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        for name, kind in inspect.getmembers(import_module(found.name), inspect.isclass):
            own = kind.__module__ == found.name and not name.startswith("_")
            if own and "__eq__" in vars(kind) and not inspect.isabstract(kind):
                yield kind


VALUES: Final[tuple[type, ...]] = (
    *_values_of(classes),
    *_values_of(hypotheses),
    *(Schema, LabelledSchema, Numeric, Category, Buckets),
    *(Perceptron, PerceptronState, StandardOptimal, StandardOptimalState, Winnow, WinnowState),
    SparseMajorityState,
    *(AboveThreshold, CountAboveThreshold, FirstFrequent, FrequentRelease),
    *(Charge, PrivacyGuarantee, ZeroConcentrated),
)
_REMEMBERED: Final = (
    *(AboveThreshold, CountAboveThreshold, FirstFrequent, FrequentRelease),
    *(PrivacyGuarantee, ZeroConcentrated),
)
"""Cached when loaded: runs of one recipe hold equal ones, each with tables of its noise."""

for known in VALUES:
    register(known, remember=known in _REMEMBERED)


# Learners that are slow to construct are made once, not for every state.
_halving = lru_cache(maxsize=8)(Halving)


def _halving_state(concepts: Any, members: int) -> HalvingState:
    if type(members) is not int:
        raise SnapshotError(f"members must be a whole number, got {members!r}")
    return HalvingState(concepts, members, _halving(concepts)._ballot)


register(KeySet, tuple, lambda *keys: key_set(keys))
register(Halving, load=_halving)
register(HalvingState, lambda state: (state.concepts, state.members), _halving_state)
register(SparseMajority, load=lru_cache(maxsize=8)(SparseMajority))
register(Ledger, Ledger.state, Ledger.from_state)


# The watch of a FrequentReleaseRun is saved with it.
for run in (AboveThresholdRun, CountAboveThresholdRun, FirstFrequentRun, FrequentReleaseRun):
    register(run, lambda run: (run._recipe, run.remembered(), run._rng), run.resumed)
