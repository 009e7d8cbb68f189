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
    from littlestone.concepts.covering import covering_number as covering_number
    from littlestone.concepts.covering import growth_function as growth_function
    from littlestone.concepts.dual import dual as dual
    from littlestone.concepts.dual import dual_littlestone_dimension as dual_littlestone_dimension
    from littlestone.concepts.dual import dual_vc_dimension as dual_vc_dimension
    from littlestone.concepts.finite import FiniteClass as FiniteClass
    from littlestone.concepts.halfspaces import MarginHalfspaces as MarginHalfspaces
    from littlestone.concepts.intervals import Intervals as Intervals
    from littlestone.concepts.littlestone import littlestone_dimension as littlestone_dimension
    from littlestone.concepts.points import Points as Points
    from littlestone.concepts.randomized import (
        randomized_littlestone_dimension as randomized_littlestone_dimension,
    )
    from littlestone.concepts.sparse_sets import SparseSets as SparseSets
    from littlestone.concepts.table import TableHypothesis as TableHypothesis
    from littlestone.concepts.thresholds import Thresholds as Thresholds
    from littlestone.concepts.trees import shattered_tree as shattered_tree
    from littlestone.concepts.vc import vc_dimension as vc_dimension
    from littlestone.concepts.vote import MajorityVote as MajorityVote
    from littlestone.game.play import play as play
    from littlestone.game.transcript import Transcript as Transcript
    from littlestone.learners.eager_forest import EagerForest as EagerForest
    from littlestone.learners.fresh_copies import FreshCopies as FreshCopies
    from littlestone.learners.lazy_forest import LazyForest as LazyForest
    from littlestone.learners.private_majority import PrivateMajority as PrivateMajority
    from littlestone.learners.restarting import Restarting as Restarting
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
    from littlestone.randomness import secure as secure
    from littlestone.randomness import seeded as seeded
    from littlestone.theory.floors import points_floor as points_floor

__version__ = "0.1.0"

__all__ = [
    "NOT_PRIVATE",
    "AboveThreshold",
    "AboveThresholdQueries",
    "AuditReport",
    "BernoulliExp",
    "Boundary",
    "Conjunctions",
    "DiscreteLaplace",
    "Drifting",
    "DyadicIntervals",
    "EagerForest",
    "ExponentialMechanism",
    "FiniteClass",
    "FrequentKiller",
    "FreshCopies",
    "Geometric",
    "Halving",
    "Intervals",
    "KeepDimension",
    "LaplaceCount",
    "LazyForest",
    "Ledger",
    "MajorityVote",
    "MarginHalfspaces",
    "MistakeForcing",
    "Perceptron",
    "PermuteAndFlip",
    "Points",
    "PrivacyGuarantee",
    "PrivateHistogram",
    "PrivateMajority",
    "RandomStream",
    "Randomness",
    "Replay",
    "Restarting",
    "ShatteredTree",
    "SparseSets",
    "SpreadMistakes",
    "StandardOptimal",
    "TableHypothesis",
    "Thresholds",
    "Transcript",
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
    "labelled",
    "largest_zero_concentrated",
    "littlestone_dimension",
    "majority",
    "optimal_composition",
    "parallel_composition",
    "play",
    "points_floor",
    "randomized_littlestone_dimension",
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
    "AuditReport": "littlestone.audit.auditing",
    "BernoulliExp": "littlestone.mechanisms.bernoulli",
    "Boundary": "littlestone.adversaries.boundary",
    "Conjunctions": "littlestone.concepts.conjunctions",
    "DiscreteLaplace": "littlestone.mechanisms.discrete_laplace",
    "Drifting": "littlestone.adversaries.drifting",
    "DyadicIntervals": "littlestone.mechanisms.intervals",
    "EagerForest": "littlestone.learners.eager_forest",
    "ExponentialMechanism": "littlestone.mechanisms.exponential",
    "FiniteClass": "littlestone.concepts.finite",
    "FrequentKiller": "littlestone.adversaries.frequent_killer",
    "FreshCopies": "littlestone.learners.fresh_copies",
    "Geometric": "littlestone.mechanisms.geometric",
    "Halving": "littlestone.online.halving",
    "Intervals": "littlestone.concepts.intervals",
    "KeepDimension": "littlestone.adversaries.keep_dimension",
    "LaplaceCount": "littlestone.mechanisms.laplace_count",
    "LazyForest": "littlestone.learners.lazy_forest",
    "Ledger": "littlestone.privacy.ledger",
    "MajorityVote": "littlestone.concepts.vote",
    "MarginHalfspaces": "littlestone.concepts.halfspaces",
    "MistakeForcing": "littlestone.adversaries.mistake_forcing",
    "NOT_PRIVATE": "littlestone.privacy.guarantee",
    "Perceptron": "littlestone.online.perceptron",
    "PermuteAndFlip": "littlestone.mechanisms.permute_and_flip",
    "Points": "littlestone.concepts.points",
    "PrivacyGuarantee": "littlestone.privacy.guarantee",
    "PrivateHistogram": "littlestone.mechanisms.histogram",
    "PrivateMajority": "littlestone.learners.private_majority",
    "RandomStream": "littlestone.adversaries.random_stream",
    "Randomness": "littlestone.randomness",
    "Replay": "littlestone.adversaries.replay",
    "Restarting": "littlestone.learners.restarting",
    "ShatteredTree": "littlestone.adversaries.shattered_tree",
    "SparseSets": "littlestone.concepts.sparse_sets",
    "SpreadMistakes": "littlestone.adversaries.spread_mistakes",
    "StandardOptimal": "littlestone.online.standard_optimal",
    "TableHypothesis": "littlestone.concepts.table",
    "Thresholds": "littlestone.concepts.thresholds",
    "Transcript": "littlestone.game.transcript",
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
    "labelled": "littlestone.concepts.aggregation",
    "largest_zero_concentrated": "littlestone.privacy.zcdp",
    "littlestone_dimension": "littlestone.concepts.littlestone",
    "majority": "littlestone.concepts.aggregation",
    "optimal_composition": "littlestone.privacy.composition",
    "parallel_composition": "littlestone.privacy.composition",
    "play": "littlestone.game.play",
    "points_floor": "littlestone.theory.floors",
    "randomized_littlestone_dimension": "littlestone.concepts.randomized",
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
