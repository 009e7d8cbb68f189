"""The classes that a saved run may hold, and no others.

Values of other packages register themselves with ``codec.register``: the hypotheses and version
spaces of a concept class, and the states of a base learner.
"""

from functools import lru_cache
from typing import Any, Final

from littlestone.concepts.classes.conjunction_parts import AfterPositive, NoPositive
from littlestone.concepts.classes.conjunctions import Conjunctions, ConjunctionVersionSpace
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.disjunctions import DisjunctionVersionSpace, MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace
from littlestone.concepts.classes.halfspaces import MarginHalfspaces, MarginVersionSpace
from littlestone.concepts.classes.interval_parts import AroundPositives, WithinGaps
from littlestone.concepts.classes.intervals import Intervals, IntervalVersionSpace
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets, SparseVersionSpace
from littlestone.concepts.classes.stumps import Stumps, StumpVersionSpace
from littlestone.concepts.classes.thresholds import (
    ThresholdHypothesis,
    Thresholds,
    ThresholdVersionSpace,
)
from littlestone.concepts.hypotheses.conjunction_rule import ConjunctionHypothesis
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.linear import LinearHypothesis
from littlestone.concepts.hypotheses.record_table import RecordTable
from littlestone.concepts.hypotheses.rules import Rule
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.hypotheses.weighted import WeightedFeatures
from littlestone.concepts.keys import KeySet, key_set
from littlestone.concepts.schema import Category, Numeric, Schema
from littlestone.errors import SnapshotError
from littlestone.learners.codec import register
from littlestone.mechanisms.above_threshold import AboveThreshold, AboveThresholdRun
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold, CountAboveThresholdRun
from littlestone.mechanisms.first_frequent import FirstFrequent, FirstFrequentRun
from littlestone.mechanisms.frequent_release import FrequentRelease, FrequentReleaseRun
from littlestone.online.halving import Halving, HalvingState
from littlestone.online.perceptron import Perceptron, PerceptronState
from littlestone.online.sparse_majority.recipe import SparseMajority, SparseMajorityState
from littlestone.online.standard_optimal import StandardOptimal, StandardOptimalState
from littlestone.online.winnow import Winnow, WinnowState
from littlestone.privacy.charge import Charge
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

VALUES: Final[tuple[type, ...]] = (
    *(Conjunctions, FiniteClass, Intervals, MarginHalfspaces, MonotoneDisjunctions, Points),
    *(DecisionTrees, SparseSets, Stumps, Thresholds, Schema, Numeric, Category),
    *(ConjunctionVersionSpace, NoPositive, AfterPositive, DisjunctionVersionSpace),
    *(FiniteVersionSpace, MarginVersionSpace, IntervalVersionSpace, WithinGaps, AroundPositives),
    *(SparseVersionSpace, StumpVersionSpace, ThresholdVersionSpace),
    *(ConjunctionHypothesis, FiniteSupport, LinearHypothesis, MajorityVote, RecordTable, Rule),
    *(DecisionTree, StepFunction, TableHypothesis, ThresholdHypothesis, WeightedFeatures),
    *(Perceptron, PerceptronState, StandardOptimal, StandardOptimalState, Winnow, WinnowState),
    SparseMajorityState,
    *(AboveThreshold, CountAboveThreshold, FirstFrequent, FrequentRelease),
    *(Charge, PrivacyGuarantee, ZeroConcentrated),
)

for known in VALUES:
    register(known)


# Learners that think for a while before they start are made once, not for every state.
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


def _restored(recipe: Any, state: Any, rng: Randomness) -> Any:
    return recipe.restore(state, rng=rng)


for run in (AboveThresholdRun, CountAboveThresholdRun, FirstFrequentRun, FrequentReleaseRun):
    register(run, lambda run: (run._recipe, run.state(), run._rng), _restored)
