"""Differentially private online learning against an adaptive adversary.

Public names are imported when they are first asked for, so that the command line starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from littlestone.adversaries.boundary import Boundary as Boundary
    from littlestone.adversaries.drifting import Drifting as Drifting
    from littlestone.adversaries.frequent_killer import FrequentKiller as FrequentKiller
    from littlestone.adversaries.keep_dimension import KeepDimension as KeepDimension
    from littlestone.adversaries.mistake_forcing import MistakeForcing as MistakeForcing
    from littlestone.adversaries.random_stream import RandomStream as RandomStream
    from littlestone.adversaries.replay import Examples as Examples
    from littlestone.adversaries.replay import Replay as Replay
    from littlestone.adversaries.shattered_tree import ShatteredTree as ShatteredTree
    from littlestone.adversaries.spread_mistakes import SpreadMistakes as SpreadMistakes
    from littlestone.audit.auditing import AuditReport as AuditReport
    from littlestone.audit.grey_box import check_sensitivity as check_sensitivity
    from littlestone.concepts.aggregation import aggregate as aggregate
    from littlestone.concepts.aggregation import complement as complement
    from littlestone.concepts.aggregation import labelled as labelled
    from littlestone.concepts.aggregation import majority as majority
    from littlestone.concepts.aggregation import union as union
    from littlestone.concepts.aggregation import xor as xor
    from littlestone.concepts.conjunctions import Conjunctions as Conjunctions
    from littlestone.concepts.consistency import ConsistencyTracker as ConsistencyTracker
    from littlestone.concepts.covering import covering_number as covering_number
    from littlestone.concepts.covering import growth_function as growth_function
    from littlestone.concepts.disjunctions import MonotoneDisjunctions as MonotoneDisjunctions
    from littlestone.concepts.dual import dual as dual
    from littlestone.concepts.dual import dual_littlestone_dimension as dual_littlestone_dimension
    from littlestone.concepts.dual import dual_vc_dimension as dual_vc_dimension
    from littlestone.concepts.finite import FiniteClass as FiniteClass
    from littlestone.concepts.halfspaces import MarginHalfspaces as MarginHalfspaces
    from littlestone.concepts.intervals import Intervals as Intervals
    from littlestone.concepts.json_form import hypothesis_from_json as hypothesis_from_json
    from littlestone.concepts.littlestone import littlestone_dimension as littlestone_dimension
    from littlestone.concepts.points import Points as Points
    from littlestone.concepts.randomized import (
        randomized_littlestone_dimension as randomized_littlestone_dimension,
    )
    from littlestone.concepts.rules import Rule as Rule
    from littlestone.concepts.schema import Schema as Schema
    from littlestone.concepts.sparse_sets import SparseSets as SparseSets
    from littlestone.concepts.stumps import Stumps as Stumps
    from littlestone.concepts.table import TableHypothesis as TableHypothesis
    from littlestone.concepts.thresholds import Thresholds as Thresholds
    from littlestone.concepts.trees import shattered_tree as shattered_tree
    from littlestone.concepts.vc import vc_dimension as vc_dimension
    from littlestone.concepts.vote import MajorityVote as MajorityVote
    from littlestone.experts.exponential_weights import ExponentialWeights as ExponentialWeights
    from littlestone.experts.hedge import Hedge as Hedge
    from littlestone.experts.lazy_switching import LazySwitching as LazySwitching
    from littlestone.experts.realizable_experts import RealizableExperts as RealizableExperts
    from littlestone.experts.shrinking_dartboard import ShrinkingDartboard as ShrinkingDartboard
    from littlestone.game.play import play as play
    from littlestone.game.transcript import Transcript as Transcript
    from littlestone.learners.agnostic_finite import AgnosticFinite as AgnosticFinite
    from littlestone.learners.core import PrivateRun as PrivateRun
    from littlestone.learners.eager_forest import EagerForest as EagerForest
    from littlestone.learners.first_frequent import FirstFrequent as FirstFrequent
    from littlestone.learners.fresh_copies import FreshCopies as FreshCopies
    from littlestone.learners.lazy_forest import ForestTooLargeError as ForestTooLargeError
    from littlestone.learners.lazy_forest import LazyForest as LazyForest
    from littlestone.learners.lazy_forest_plan import ForestBudgets as ForestBudgets
    from littlestone.learners.naive_recomposition import NaiveRecomposition as NaiveRecomposition
    from littlestone.learners.private_majority import PrivateMajority as PrivateMajority
    from littlestone.learners.restarting import Restarting as Restarting
    from littlestone.learners.sanitized_batches import SanitizedBatches as SanitizedBatches
    from littlestone.learners.sanitized_experts import SanitizedExperts as SanitizedExperts
    from littlestone.learners.unknown_horizon import UnknownHorizon as UnknownHorizon
    from littlestone.mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from littlestone.mechanisms.bernoulli import BernoulliExp as BernoulliExp
    from littlestone.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from littlestone.mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from littlestone.mechanisms.geometric import Geometric as Geometric
    from littlestone.mechanisms.histogram import PrivateHistogram as PrivateHistogram
    from littlestone.mechanisms.intervals import DyadicIntervals as DyadicIntervals
    from littlestone.mechanisms.laplace_count import LaplaceCount as LaplaceCount
    from littlestone.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from littlestone.mechanisms.sparse_vector import AboveThresholdQueries as AboveThresholdQueries
    from littlestone.mechanisms.truncated_laplace import TruncatedLaplace as TruncatedLaplace
    from littlestone.online.halving import Halving as Halving
    from littlestone.online.perceptron import Perceptron as Perceptron
    from littlestone.online.proper_agnostic import ProperAgnostic as ProperAgnostic
    from littlestone.online.sparse_majority import SparseMajority as SparseMajority
    from littlestone.online.standard_optimal import StandardOptimal as StandardOptimal
    from littlestone.online.winnow import Winnow as Winnow
    from littlestone.privacy.composition import advanced_composition as advanced_composition
    from littlestone.privacy.composition import basic_composition as basic_composition
    from littlestone.privacy.composition import optimal_composition as optimal_composition
    from littlestone.privacy.composition import parallel_composition as parallel_composition
    from littlestone.privacy.group import user_level as user_level
    from littlestone.privacy.guarantee import NOT_PRIVATE as NOT_PRIVATE
    from littlestone.privacy.guarantee import PrivacyGuarantee as PrivacyGuarantee
    from littlestone.privacy.ledger import Ledger as Ledger
    from littlestone.privacy.zcdp import ZeroConcentrated as ZeroConcentrated
    from littlestone.privacy.zcdp import largest_zero_concentrated as largest_zero_concentrated
    from littlestone.randomness import Randomness as Randomness
    from littlestone.randomness import keyed as keyed
    from littlestone.randomness import secure as secure
    from littlestone.randomness import seeded as seeded
    from littlestone.recommendation import Recommendation as Recommendation
    from littlestone.recommendation import recommend as recommend
    from littlestone.sanitizers.choose import sanitizer_for as sanitizer_for
    from littlestone.sanitizers.empirical import AgnosticEmpirical as AgnosticEmpirical
    from littlestone.sanitizers.histogram_sanitizer import HistogramSanitizer as HistogramSanitizer
    from littlestone.sanitizers.intervals import IntervalSanitizer as IntervalSanitizer
    from littlestone.sanitizers.irreducible import IrreducibleLearner as IrreducibleLearner
    from littlestone.sanitizers.labels import LabelConversion as LabelConversion
    from littlestone.sanitizers.proper import ProperSelection as ProperSelection
    from littlestone.sanitizers.protocols import TooFewExamplesError as TooFewExamplesError
    from littlestone.sanitizers.realizable import RealizableSanitizer as RealizableSanitizer
    from littlestone.sanitizers.sanitizer import FoolingSanitizer as FoolingSanitizer
    from littlestone.sanitizers.subsampling import Subsampled as Subsampled
    from littlestone.sanitizers.tree_sanitizer import TreeSanitizer as TreeSanitizer
    from littlestone.service.durable import DurableRun as DurableRun
    from littlestone.service.durable import Event as Event
    from littlestone.service.durable import Receipt as Receipt
    from littlestone.theory.floors import points_floor as points_floor

__version__ = "0.1.0"

__all__ = [
    "NOT_PRIVATE",
    "AboveThreshold",
    "AboveThresholdQueries",
    "AgnosticEmpirical",
    "AgnosticFinite",
    "AuditReport",
    "BernoulliExp",
    "Boundary",
    "Conjunctions",
    "ConsistencyTracker",
    "DiscreteLaplace",
    "Drifting",
    "DurableRun",
    "DyadicIntervals",
    "EagerForest",
    "Event",
    "Examples",
    "ExponentialMechanism",
    "ExponentialWeights",
    "FiniteClass",
    "FirstFrequent",
    "FoolingSanitizer",
    "ForestBudgets",
    "ForestTooLargeError",
    "FrequentKiller",
    "FreshCopies",
    "Geometric",
    "Halving",
    "Hedge",
    "HistogramSanitizer",
    "IntervalSanitizer",
    "Intervals",
    "IrreducibleLearner",
    "KeepDimension",
    "LabelConversion",
    "LaplaceCount",
    "LazyForest",
    "LazySwitching",
    "Ledger",
    "MajorityVote",
    "MarginHalfspaces",
    "MistakeForcing",
    "MonotoneDisjunctions",
    "NaiveRecomposition",
    "Perceptron",
    "PermuteAndFlip",
    "Points",
    "PrivacyGuarantee",
    "PrivateHistogram",
    "PrivateMajority",
    "PrivateRun",
    "ProperAgnostic",
    "ProperSelection",
    "RandomStream",
    "Randomness",
    "RealizableExperts",
    "RealizableSanitizer",
    "Receipt",
    "Recommendation",
    "Replay",
    "Restarting",
    "Rule",
    "SanitizedBatches",
    "SanitizedExperts",
    "Schema",
    "ShatteredTree",
    "ShrinkingDartboard",
    "SparseMajority",
    "SparseSets",
    "SpreadMistakes",
    "StandardOptimal",
    "Stumps",
    "Subsampled",
    "TableHypothesis",
    "Thresholds",
    "TooFewExamplesError",
    "Transcript",
    "TreeSanitizer",
    "TruncatedLaplace",
    "UnknownHorizon",
    "Winnow",
    "ZeroConcentrated",
    "advanced_composition",
    "aggregate",
    "basic_composition",
    "check_sensitivity",
    "complement",
    "covering_number",
    "dual",
    "dual_littlestone_dimension",
    "dual_vc_dimension",
    "growth_function",
    "hypothesis_from_json",
    "keyed",
    "labelled",
    "largest_zero_concentrated",
    "littlestone_dimension",
    "majority",
    "optimal_composition",
    "parallel_composition",
    "play",
    "points_floor",
    "randomized_littlestone_dimension",
    "recommend",
    "sanitizer_for",
    "secure",
    "seeded",
    "shattered_tree",
    "union",
    "user_level",
    "vc_dimension",
    "xor",
]

_HOMES = {
    "AboveThreshold": "littlestone.mechanisms.above_threshold",
    "AboveThresholdQueries": "littlestone.mechanisms.sparse_vector",
    "AgnosticEmpirical": "littlestone.sanitizers.empirical",
    "AgnosticFinite": "littlestone.learners.agnostic_finite",
    "AuditReport": "littlestone.audit.auditing",
    "BernoulliExp": "littlestone.mechanisms.bernoulli",
    "Boundary": "littlestone.adversaries.boundary",
    "Conjunctions": "littlestone.concepts.conjunctions",
    "ConsistencyTracker": "littlestone.concepts.consistency",
    "DiscreteLaplace": "littlestone.mechanisms.discrete_laplace",
    "Drifting": "littlestone.adversaries.drifting",
    "DurableRun": "littlestone.service.durable",
    "DyadicIntervals": "littlestone.mechanisms.intervals",
    "EagerForest": "littlestone.learners.eager_forest",
    "Event": "littlestone.service.durable",
    "Examples": "littlestone.adversaries.replay",
    "ExponentialMechanism": "littlestone.mechanisms.exponential",
    "ExponentialWeights": "littlestone.experts.exponential_weights",
    "FiniteClass": "littlestone.concepts.finite",
    "FirstFrequent": "littlestone.learners.first_frequent",
    "FoolingSanitizer": "littlestone.sanitizers.sanitizer",
    "ForestBudgets": "littlestone.learners.lazy_forest_plan",
    "ForestTooLargeError": "littlestone.learners.lazy_forest",
    "FrequentKiller": "littlestone.adversaries.frequent_killer",
    "FreshCopies": "littlestone.learners.fresh_copies",
    "Geometric": "littlestone.mechanisms.geometric",
    "Halving": "littlestone.online.halving",
    "Hedge": "littlestone.experts.hedge",
    "HistogramSanitizer": "littlestone.sanitizers.histogram_sanitizer",
    "IntervalSanitizer": "littlestone.sanitizers.intervals",
    "Intervals": "littlestone.concepts.intervals",
    "IrreducibleLearner": "littlestone.sanitizers.irreducible",
    "KeepDimension": "littlestone.adversaries.keep_dimension",
    "LabelConversion": "littlestone.sanitizers.labels",
    "LaplaceCount": "littlestone.mechanisms.laplace_count",
    "LazyForest": "littlestone.learners.lazy_forest",
    "LazySwitching": "littlestone.experts.lazy_switching",
    "Ledger": "littlestone.privacy.ledger",
    "MajorityVote": "littlestone.concepts.vote",
    "MarginHalfspaces": "littlestone.concepts.halfspaces",
    "MistakeForcing": "littlestone.adversaries.mistake_forcing",
    "MonotoneDisjunctions": "littlestone.concepts.disjunctions",
    "NOT_PRIVATE": "littlestone.privacy.guarantee",
    "NaiveRecomposition": "littlestone.learners.naive_recomposition",
    "Perceptron": "littlestone.online.perceptron",
    "PermuteAndFlip": "littlestone.mechanisms.permute_and_flip",
    "Points": "littlestone.concepts.points",
    "PrivacyGuarantee": "littlestone.privacy.guarantee",
    "PrivateHistogram": "littlestone.mechanisms.histogram",
    "PrivateMajority": "littlestone.learners.private_majority",
    "PrivateRun": "littlestone.learners.core",
    "ProperAgnostic": "littlestone.online.proper_agnostic",
    "ProperSelection": "littlestone.sanitizers.proper",
    "RandomStream": "littlestone.adversaries.random_stream",
    "Randomness": "littlestone.randomness",
    "RealizableExperts": "littlestone.experts.realizable_experts",
    "RealizableSanitizer": "littlestone.sanitizers.realizable",
    "Receipt": "littlestone.service.durable",
    "Recommendation": "littlestone.recommendation",
    "Replay": "littlestone.adversaries.replay",
    "Restarting": "littlestone.learners.restarting",
    "Rule": "littlestone.concepts.rules",
    "SanitizedBatches": "littlestone.learners.sanitized_batches",
    "SanitizedExperts": "littlestone.learners.sanitized_experts",
    "Schema": "littlestone.concepts.schema",
    "ShatteredTree": "littlestone.adversaries.shattered_tree",
    "ShrinkingDartboard": "littlestone.experts.shrinking_dartboard",
    "SparseMajority": "littlestone.online.sparse_majority",
    "SparseSets": "littlestone.concepts.sparse_sets",
    "SpreadMistakes": "littlestone.adversaries.spread_mistakes",
    "StandardOptimal": "littlestone.online.standard_optimal",
    "Stumps": "littlestone.concepts.stumps",
    "Subsampled": "littlestone.sanitizers.subsampling",
    "TableHypothesis": "littlestone.concepts.table",
    "Thresholds": "littlestone.concepts.thresholds",
    "TooFewExamplesError": "littlestone.sanitizers.protocols",
    "Transcript": "littlestone.game.transcript",
    "TreeSanitizer": "littlestone.sanitizers.tree_sanitizer",
    "TruncatedLaplace": "littlestone.mechanisms.truncated_laplace",
    "UnknownHorizon": "littlestone.learners.unknown_horizon",
    "Winnow": "littlestone.online.winnow",
    "ZeroConcentrated": "littlestone.privacy.zcdp",
    "advanced_composition": "littlestone.privacy.composition",
    "aggregate": "littlestone.concepts.aggregation",
    "basic_composition": "littlestone.privacy.composition",
    "check_sensitivity": "littlestone.audit.grey_box",
    "complement": "littlestone.concepts.aggregation",
    "covering_number": "littlestone.concepts.covering",
    "dual": "littlestone.concepts.dual",
    "dual_littlestone_dimension": "littlestone.concepts.dual",
    "dual_vc_dimension": "littlestone.concepts.dual",
    "growth_function": "littlestone.concepts.covering",
    "hypothesis_from_json": "littlestone.concepts.json_form",
    "keyed": "littlestone.randomness",
    "labelled": "littlestone.concepts.aggregation",
    "largest_zero_concentrated": "littlestone.privacy.zcdp",
    "littlestone_dimension": "littlestone.concepts.littlestone",
    "majority": "littlestone.concepts.aggregation",
    "optimal_composition": "littlestone.privacy.composition",
    "parallel_composition": "littlestone.privacy.composition",
    "play": "littlestone.game.play",
    "points_floor": "littlestone.theory.floors",
    "randomized_littlestone_dimension": "littlestone.concepts.randomized",
    "recommend": "littlestone.recommendation",
    "sanitizer_for": "littlestone.sanitizers.choose",
    "secure": "littlestone.randomness",
    "seeded": "littlestone.randomness",
    "shattered_tree": "littlestone.concepts.trees",
    "union": "littlestone.concepts.aggregation",
    "user_level": "littlestone.privacy.group",
    "vc_dimension": "littlestone.concepts.vc",
    "xor": "littlestone.concepts.aggregation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'littlestone' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
