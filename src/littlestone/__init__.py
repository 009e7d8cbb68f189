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
    from littlestone.concepts.classes.aggregation import aggregate as aggregate
    from littlestone.concepts.classes.aggregation import complement as complement
    from littlestone.concepts.classes.aggregation import labelled as labelled
    from littlestone.concepts.classes.aggregation import majority as majority
    from littlestone.concepts.classes.aggregation import union as union
    from littlestone.concepts.classes.aggregation import xor as xor
    from littlestone.concepts.classes.conjunctions import Conjunctions as Conjunctions
    from littlestone.concepts.classes.disjunctions import (
        MonotoneDisjunctions as MonotoneDisjunctions,
    )
    from littlestone.concepts.classes.finite import FiniteClass as FiniteClass
    from littlestone.concepts.classes.halfspaces import MarginHalfspaces as MarginHalfspaces
    from littlestone.concepts.classes.intervals import Intervals as Intervals
    from littlestone.concepts.classes.points import Points as Points
    from littlestone.concepts.classes.sparse_sets import SparseSets as SparseSets
    from littlestone.concepts.classes.stumps import Stumps as Stumps
    from littlestone.concepts.classes.thresholds import Thresholds as Thresholds
    from littlestone.concepts.dimensions.covering import covering_number as covering_number
    from littlestone.concepts.dimensions.covering import growth_function as growth_function
    from littlestone.concepts.dimensions.dual import dual as dual
    from littlestone.concepts.dimensions.dual import (
        dual_littlestone_dimension as dual_littlestone_dimension,
    )
    from littlestone.concepts.dimensions.dual import dual_vc_dimension as dual_vc_dimension
    from littlestone.concepts.dimensions.littlestone import (
        littlestone_dimension as littlestone_dimension,
    )
    from littlestone.concepts.dimensions.mistake_trees import shattered_tree as shattered_tree
    from littlestone.concepts.dimensions.randomized import (
        randomized_littlestone_dimension as randomized_littlestone_dimension,
    )
    from littlestone.concepts.dimensions.vc import vc_dimension as vc_dimension
    from littlestone.concepts.hypotheses.rules import Rule as Rule
    from littlestone.concepts.hypotheses.table import TableHypothesis as TableHypothesis
    from littlestone.concepts.hypotheses.vote import MajorityVote as MajorityVote
    from littlestone.concepts.json_form import hypothesis_from_json as hypothesis_from_json
    from littlestone.concepts.schema import Schema as Schema
    from littlestone.errors import TooFewExamplesError as TooFewExamplesError
    from littlestone.experts.exponential_weights import ExponentialWeights as ExponentialWeights
    from littlestone.experts.hedge import Hedge as Hedge
    from littlestone.experts.lazy_switching import LazySwitching as LazySwitching
    from littlestone.experts.realizable_experts import RealizableExperts as RealizableExperts
    from littlestone.experts.shrinking_dartboard import ShrinkingDartboard as ShrinkingDartboard
    from littlestone.game.consistency import ConsistencyTracker as ConsistencyTracker
    from littlestone.game.play import play as play
    from littlestone.game.transcript import Transcript as Transcript
    from littlestone.learners.agnostic_finite.recipe import AgnosticFinite as AgnosticFinite
    from littlestone.learners.golowich_livni.eager_forest import EagerForest as EagerForest
    from littlestone.learners.golowich_livni.fresh_copies import FreshCopies as FreshCopies
    from littlestone.learners.lazy_forest.plan import ForestBudgets as ForestBudgets
    from littlestone.learners.lazy_forest.recipe import ForestTooLargeError as ForestTooLargeError
    from littlestone.learners.lazy_forest.recipe import LazyForest as LazyForest
    from littlestone.learners.naive_recomposition import NaiveRecomposition as NaiveRecomposition
    from littlestone.learners.private_majority.recipe import PrivateMajority as PrivateMajority
    from littlestone.learners.run import PrivateRun as PrivateRun
    from littlestone.learners.sanitized_batches.recipe import SanitizedBatches as SanitizedBatches
    from littlestone.learners.sanitized_experts.recipe import SanitizedExperts as SanitizedExperts
    from littlestone.learners.wrappers.restarting import Restarting as Restarting
    from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon as UnknownHorizon
    from littlestone.mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from littlestone.mechanisms.binary_mechanism import DyadicIntervals as DyadicIntervals
    from littlestone.mechanisms.count_above_threshold import (
        CountAboveThreshold as CountAboveThreshold,
    )
    from littlestone.mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from littlestone.mechanisms.first_frequent import FirstFrequent as FirstFrequent
    from littlestone.mechanisms.histogram import PrivateHistogram as PrivateHistogram
    from littlestone.mechanisms.laplace_count import LaplaceCount as LaplaceCount
    from littlestone.mechanisms.noise.bernoulli import BernoulliExp as BernoulliExp
    from littlestone.mechanisms.noise.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from littlestone.mechanisms.noise.geometric import Geometric as Geometric
    from littlestone.mechanisms.noise.truncated_laplace import TruncatedLaplace as TruncatedLaplace
    from littlestone.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from littlestone.online.halving import Halving as Halving
    from littlestone.online.perceptron import Perceptron as Perceptron
    from littlestone.online.proper_agnostic import ProperAgnostic as ProperAgnostic
    from littlestone.online.sparse_majority.recipe import SparseMajority as SparseMajority
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
    from littlestone.proper.agnostic_empirical import AgnosticEmpirical as AgnosticEmpirical
    from littlestone.proper.irreducible import IrreducibleLearner as IrreducibleLearner
    from littlestone.proper.proper_selection import ProperSelection as ProperSelection
    from littlestone.proper.subsampling import Subsampled as Subsampled
    from littlestone.randomness import Randomness as Randomness
    from littlestone.randomness import keyed as keyed
    from littlestone.randomness import secure as secure
    from littlestone.randomness import seeded as seeded
    from littlestone.recommendation import Recommendation as Recommendation
    from littlestone.recommendation import recommend as recommend
    from littlestone.sanitizers.choose import sanitizer_for as sanitizer_for
    from littlestone.sanitizers.fooling.fooling_sanitizer import (
        FoolingSanitizer as FoolingSanitizer,
    )
    from littlestone.sanitizers.labels import LabelConversion as LabelConversion
    from littlestone.sanitizers.realizable.realizable_sanitizer import (
        RealizableSanitizer as RealizableSanitizer,
    )
    from littlestone.sanitizers.specialised.histogram_sanitizer import (
        HistogramSanitizer as HistogramSanitizer,
    )
    from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer as TreeSanitizer
    from littlestone.sanitizers.stream.interval_sanitizer import (
        IntervalSanitizer as IntervalSanitizer,
    )
    from littlestone.service.durable import DurableRun as DurableRun
    from littlestone.service.durable import Event as Event
    from littlestone.service.durable import Receipt as Receipt
    from littlestone.theory.floors import points_floor as points_floor

__version__ = "0.1.0"

__all__ = [
    "NOT_PRIVATE",
    "AboveThreshold",
    "AgnosticEmpirical",
    "AgnosticFinite",
    "AuditReport",
    "BernoulliExp",
    "Boundary",
    "Conjunctions",
    "ConsistencyTracker",
    "CountAboveThreshold",
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
    "CountAboveThreshold": "littlestone.mechanisms.count_above_threshold",
    "AboveThreshold": "littlestone.mechanisms.above_threshold",
    "AgnosticEmpirical": "littlestone.proper.agnostic_empirical",
    "AgnosticFinite": "littlestone.learners.agnostic_finite.recipe",
    "AuditReport": "littlestone.audit.auditing",
    "BernoulliExp": "littlestone.mechanisms.noise.bernoulli",
    "Boundary": "littlestone.adversaries.boundary",
    "Conjunctions": "littlestone.concepts.classes.conjunctions",
    "ConsistencyTracker": "littlestone.game.consistency",
    "DiscreteLaplace": "littlestone.mechanisms.noise.discrete_laplace",
    "Drifting": "littlestone.adversaries.drifting",
    "DurableRun": "littlestone.service.durable",
    "DyadicIntervals": "littlestone.mechanisms.binary_mechanism",
    "EagerForest": "littlestone.learners.golowich_livni.eager_forest",
    "Event": "littlestone.service.durable",
    "Examples": "littlestone.adversaries.replay",
    "ExponentialMechanism": "littlestone.mechanisms.exponential",
    "ExponentialWeights": "littlestone.experts.exponential_weights",
    "FiniteClass": "littlestone.concepts.classes.finite",
    "FirstFrequent": "littlestone.mechanisms.first_frequent",
    "FoolingSanitizer": "littlestone.sanitizers.fooling.fooling_sanitizer",
    "ForestBudgets": "littlestone.learners.lazy_forest.plan",
    "ForestTooLargeError": "littlestone.learners.lazy_forest.recipe",
    "FrequentKiller": "littlestone.adversaries.frequent_killer",
    "FreshCopies": "littlestone.learners.golowich_livni.fresh_copies",
    "Geometric": "littlestone.mechanisms.noise.geometric",
    "Halving": "littlestone.online.halving",
    "Hedge": "littlestone.experts.hedge",
    "HistogramSanitizer": "littlestone.sanitizers.specialised.histogram_sanitizer",
    "IntervalSanitizer": "littlestone.sanitizers.stream.interval_sanitizer",
    "Intervals": "littlestone.concepts.classes.intervals",
    "IrreducibleLearner": "littlestone.proper.irreducible",
    "KeepDimension": "littlestone.adversaries.keep_dimension",
    "LabelConversion": "littlestone.sanitizers.labels",
    "LaplaceCount": "littlestone.mechanisms.laplace_count",
    "LazyForest": "littlestone.learners.lazy_forest.recipe",
    "LazySwitching": "littlestone.experts.lazy_switching",
    "Ledger": "littlestone.privacy.ledger",
    "MajorityVote": "littlestone.concepts.hypotheses.vote",
    "MarginHalfspaces": "littlestone.concepts.classes.halfspaces",
    "MistakeForcing": "littlestone.adversaries.mistake_forcing",
    "MonotoneDisjunctions": "littlestone.concepts.classes.disjunctions",
    "NOT_PRIVATE": "littlestone.privacy.guarantee",
    "NaiveRecomposition": "littlestone.learners.naive_recomposition",
    "Perceptron": "littlestone.online.perceptron",
    "PermuteAndFlip": "littlestone.mechanisms.permute_and_flip",
    "Points": "littlestone.concepts.classes.points",
    "PrivacyGuarantee": "littlestone.privacy.guarantee",
    "PrivateHistogram": "littlestone.mechanisms.histogram",
    "PrivateMajority": "littlestone.learners.private_majority.recipe",
    "PrivateRun": "littlestone.learners.run",
    "ProperAgnostic": "littlestone.online.proper_agnostic",
    "ProperSelection": "littlestone.proper.proper_selection",
    "RandomStream": "littlestone.adversaries.random_stream",
    "Randomness": "littlestone.randomness",
    "RealizableExperts": "littlestone.experts.realizable_experts",
    "RealizableSanitizer": "littlestone.sanitizers.realizable.realizable_sanitizer",
    "Receipt": "littlestone.service.durable",
    "Recommendation": "littlestone.recommendation",
    "Replay": "littlestone.adversaries.replay",
    "Restarting": "littlestone.learners.wrappers.restarting",
    "Rule": "littlestone.concepts.hypotheses.rules",
    "SanitizedBatches": "littlestone.learners.sanitized_batches.recipe",
    "SanitizedExperts": "littlestone.learners.sanitized_experts.recipe",
    "Schema": "littlestone.concepts.schema",
    "ShatteredTree": "littlestone.adversaries.shattered_tree",
    "ShrinkingDartboard": "littlestone.experts.shrinking_dartboard",
    "SparseMajority": "littlestone.online.sparse_majority.recipe",
    "SparseSets": "littlestone.concepts.classes.sparse_sets",
    "SpreadMistakes": "littlestone.adversaries.spread_mistakes",
    "StandardOptimal": "littlestone.online.standard_optimal",
    "Stumps": "littlestone.concepts.classes.stumps",
    "Subsampled": "littlestone.proper.subsampling",
    "TableHypothesis": "littlestone.concepts.hypotheses.table",
    "Thresholds": "littlestone.concepts.classes.thresholds",
    "TooFewExamplesError": "littlestone.errors",
    "Transcript": "littlestone.game.transcript",
    "TreeSanitizer": "littlestone.sanitizers.specialised.tree_sanitizer",
    "TruncatedLaplace": "littlestone.mechanisms.noise.truncated_laplace",
    "UnknownHorizon": "littlestone.learners.wrappers.unknown_horizon",
    "Winnow": "littlestone.online.winnow",
    "ZeroConcentrated": "littlestone.privacy.zcdp",
    "advanced_composition": "littlestone.privacy.composition",
    "aggregate": "littlestone.concepts.classes.aggregation",
    "basic_composition": "littlestone.privacy.composition",
    "check_sensitivity": "littlestone.audit.grey_box",
    "complement": "littlestone.concepts.classes.aggregation",
    "covering_number": "littlestone.concepts.dimensions.covering",
    "dual": "littlestone.concepts.dimensions.dual",
    "dual_littlestone_dimension": "littlestone.concepts.dimensions.dual",
    "dual_vc_dimension": "littlestone.concepts.dimensions.dual",
    "growth_function": "littlestone.concepts.dimensions.covering",
    "hypothesis_from_json": "littlestone.concepts.json_form",
    "keyed": "littlestone.randomness",
    "labelled": "littlestone.concepts.classes.aggregation",
    "largest_zero_concentrated": "littlestone.privacy.zcdp",
    "littlestone_dimension": "littlestone.concepts.dimensions.littlestone",
    "majority": "littlestone.concepts.classes.aggregation",
    "optimal_composition": "littlestone.privacy.composition",
    "parallel_composition": "littlestone.privacy.composition",
    "play": "littlestone.game.play",
    "points_floor": "littlestone.theory.floors",
    "randomized_littlestone_dimension": "littlestone.concepts.dimensions.randomized",
    "recommend": "littlestone.recommendation",
    "sanitizer_for": "littlestone.sanitizers.choose",
    "secure": "littlestone.randomness",
    "seeded": "littlestone.randomness",
    "shattered_tree": "littlestone.concepts.dimensions.mistake_trees",
    "union": "littlestone.concepts.classes.aggregation",
    "user_level": "littlestone.privacy.group",
    "vc_dimension": "littlestone.concepts.dimensions.vc",
    "xor": "littlestone.concepts.classes.aggregation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'littlestone' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
