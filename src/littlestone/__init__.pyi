"""Every public name and where it lives: the one list, read by type checkers and at run time."""

from littlestone.adversaries.boundary import Boundary as Boundary
from littlestone.adversaries.contradiction import Contradiction as Contradiction
from littlestone.adversaries.contradiction import FreeLabels as FreeLabels
from littlestone.adversaries.contradiction import NoisyBoundary as NoisyBoundary
from littlestone.adversaries.drifting import Drifting as Drifting
from littlestone.adversaries.frequent_killer import FrequentKiller as FrequentKiller
from littlestone.adversaries.mistake_forcing import MistakeForcing as MistakeForcing
from littlestone.adversaries.random_stream import HiddenOnes as HiddenOnes
from littlestone.adversaries.random_stream import RandomStream as RandomStream
from littlestone.adversaries.replay import Examples as Examples
from littlestone.adversaries.replay import Replay as Replay
from littlestone.adversaries.shattered_tree import CoinTree as CoinTree
from littlestone.adversaries.shattered_tree import ShatteredTree as ShatteredTree
from littlestone.adversaries.spreading import KeepDimension as KeepDimension
from littlestone.adversaries.spreading import SpreadMistakes as SpreadMistakes
from littlestone.audit.auditing import AuditReport as AuditReport
from littlestone.audit.exact.privacy_curve import PrivacyCurve as PrivacyCurve
from littlestone.audit.exact.privacy_curve import privacy_curve as privacy_curve
from littlestone.audit.exact.tape import TooLightError as TooLightError
from littlestone.audit.grey_box import SensitivityError as SensitivityError
from littlestone.audit.grey_box import Visit as Visit
from littlestone.audit.grey_box import check_sensitivity as check_sensitivity
from littlestone.audit.two_worlds import Subject as Subject
from littlestone.audit.two_worlds import TwoWorldAdversary as TwoWorldAdversary
from littlestone.choose.ranking import Candidate as Candidate
from littlestone.choose.recommendation import Recommendation as Recommendation
from littlestone.choose.recommendation import recommend as recommend
from littlestone.choose.request import Request as Request
from littlestone.client import Client as Client
from littlestone.client import ServiceError as ServiceError
from littlestone.concepts.ball import RationalBall as RationalBall
from littlestone.concepts.classes.aggregation import aggregate as aggregate
from littlestone.concepts.classes.aggregation import complement as complement
from littlestone.concepts.classes.aggregation import labelled as labelled
from littlestone.concepts.classes.aggregation import majority as majority
from littlestone.concepts.classes.aggregation import union as union
from littlestone.concepts.classes.aggregation import xor as xor
from littlestone.concepts.classes.boxes import Boxes as Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions as Conjunctions
from littlestone.concepts.classes.decision_trees import DecisionTrees as DecisionTrees
from littlestone.concepts.classes.disjunctions import (
    MonotoneDisjunctions as MonotoneDisjunctions,
)
from littlestone.concepts.classes.finite import FiniteClass as FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces as MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals as Intervals
from littlestone.concepts.classes.points import Points as Points
from littlestone.concepts.classes.sparse_sets import KeySets as KeySets
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
from littlestone.concepts.dimensions.mistake_trees import Leaf as Leaf
from littlestone.concepts.dimensions.mistake_trees import Vertex as Vertex
from littlestone.concepts.dimensions.mistake_trees import shattered_tree as shattered_tree
from littlestone.concepts.dimensions.randomized import (
    randomized_littlestone_dimension as randomized_littlestone_dimension,
)
from littlestone.concepts.dimensions.vc import vc_dimension as vc_dimension
from littlestone.concepts.hypotheses.decision_tree import DecisionTree as DecisionTree
from littlestone.concepts.hypotheses.rules import Rule as Rule
from littlestone.concepts.hypotheses.scorecard import Scorecard as Scorecard
from littlestone.concepts.hypotheses.table import TableHypothesis as TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote as MajorityVote
from littlestone.concepts.json_form import hypothesis_from_json as hypothesis_from_json
from littlestone.concepts.protocols import ConceptClass as ConceptClass
from littlestone.concepts.protocols import Domain as Domain
from littlestone.concepts.protocols import Hypothesis as Hypothesis
from littlestone.concepts.schema import Category as Category
from littlestone.concepts.schema import Numeric as Numeric
from littlestone.concepts.schema import Schema as Schema
from littlestone.errors import BudgetExceededError as BudgetExceededError
from littlestone.errors import HaltedError as HaltedError
from littlestone.errors import HorizonExceededError as HorizonExceededError
from littlestone.errors import InUseError as InUseError
from littlestone.errors import LittlestoneError as LittlestoneError
from littlestone.errors import NotRealizableError as NotRealizableError
from littlestone.errors import RetiredError as RetiredError
from littlestone.errors import RollbackError as RollbackError
from littlestone.errors import SequenceGapError as SequenceGapError
from littlestone.errors import SnapshotError as SnapshotError
from littlestone.errors import StoreError as StoreError
from littlestone.errors import TooFewExamplesError as TooFewExamplesError
from littlestone.experts.batches import Batches as Batches
from littlestone.experts.dartboard_plan import DartboardPlan as DartboardPlan
from littlestone.experts.exponential_weights import ExponentialWeights as ExponentialWeights
from littlestone.experts.hedge import Hedge as Hedge
from littlestone.experts.lazy_switching import LazySwitching as LazySwitching
from littlestone.experts.protocols import ExpertsRecipe as ExpertsRecipe
from littlestone.experts.realizable_experts import RealizableExperts as RealizableExperts
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard as ShrinkingDartboard
from littlestone.fleet.keyed import advance as advance
from littlestone.fleet.per_key import PerKey as PerKey
from littlestone.game.consistency import ConsistencyTracker as ConsistencyTracker
from littlestone.game.play import play as play
from littlestone.game.prediction import Predictor as Predictor
from littlestone.game.prediction import play_predictions as play_predictions
from littlestone.game.protocols import Adversary as Adversary
from littlestone.game.protocols import Learner as Learner
from littlestone.game.transcript import Round as Round
from littlestone.game.transcript import Transcript as Transcript
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses as NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite as AgnosticFinite
from littlestone.learners.disjoint_batches.recipe import DisjointBatches as DisjointBatches
from littlestone.learners.golowich_livni.eager_forest import EagerForest as EagerForest
from littlestone.learners.golowich_livni.forest_size import (
    TooManyTreesError as TooManyTreesError,
)
from littlestone.learners.golowich_livni.fresh_copies import FreshCopies as FreshCopies
from littlestone.learners.lazy_forest.plan import ForestBudgets as ForestBudgets
from littlestone.learners.lazy_forest.plan import ForestPlan as ForestPlan
from littlestone.learners.lazy_forest.recipe import ForestTooLargeError as ForestTooLargeError
from littlestone.learners.lazy_forest.recipe import LazyForest as LazyForest
from littlestone.learners.naive_recomposition import NaiveRecomposition as NaiveRecomposition
from littlestone.learners.private_keys.recipe import PrivateKeys as PrivateKeys
from littlestone.learners.private_linear.recipe import PrivateLinear as PrivateLinear
from littlestone.learners.private_majority.plan import EpochPlan as EpochPlan
from littlestone.learners.private_majority.plan import FreshPlan as FreshPlan
from littlestone.learners.private_majority.plan import SampledPlan as SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority as PrivateMajority
from littlestone.learners.private_prediction.plan import PredictionPlan as PredictionPlan
from littlestone.learners.private_prediction.recipe import (
    PrivatePrediction as PrivatePrediction,
)
from littlestone.learners.private_teachers.plan import TeachersPlan as TeachersPlan
from littlestone.learners.private_teachers.recipe import PrivateTeachers as PrivateTeachers
from littlestone.learners.private_witnesses.plan import WitnessPlan as WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses as PrivateWitnesses
from littlestone.learners.run import PrivateLearner as PrivateLearner
from littlestone.learners.run import PrivateRun as PrivateRun
from littlestone.learners.sanitized_batches.recipe import SanitizedBatches as SanitizedBatches
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts as SanitizedExperts
from littlestone.learners.wrappers.restarting import Restarting as Restarting
from littlestone.learners.wrappers.unknown_horizon import UnknownHorizon as UnknownHorizon
from littlestone.mechanisms.above_threshold import AboveThreshold as AboveThreshold
from littlestone.mechanisms.binary_mechanism import DyadicIntervals as DyadicIntervals
from littlestone.mechanisms.correlated_sums import CorrelatedSums as CorrelatedSums
from littlestone.mechanisms.count_above_threshold import (
    CountAboveThreshold as CountAboveThreshold,
)
from littlestone.mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
from littlestone.mechanisms.first_frequent import FirstFrequent as FirstFrequent
from littlestone.mechanisms.frequent_release import FrequentRelease as FrequentRelease
from littlestone.mechanisms.histogram import PrivateHistogram as PrivateHistogram
from littlestone.mechanisms.laplace_count import LaplaceCount as LaplaceCount
from littlestone.mechanisms.noise.bernoulli import BernoulliExp as BernoulliExp
from littlestone.mechanisms.noise.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from littlestone.mechanisms.noise.geometric import Geometric as Geometric
from littlestone.mechanisms.noise.truncated_laplace import TruncatedLaplace as TruncatedLaplace
from littlestone.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from littlestone.online.halving import Halving as Halving
from littlestone.online.perceptron import Perceptron as Perceptron
from littlestone.online.proper import ProperOnlineLearner as ProperOnlineLearner
from littlestone.online.proper_agnostic import ProperAgnostic as ProperAgnostic
from littlestone.online.protocols import OnlineLearner as OnlineLearner
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
from littlestone.proper.agnostic_empirical import AgnosticEmpirical as AgnosticEmpirical
from littlestone.proper.irreducible import IrreducibleLearner as IrreducibleLearner
from littlestone.proper.proper_selection import ProperLearner as ProperLearner
from littlestone.proper.proper_selection import ProperSelection as ProperSelection
from littlestone.proper.subsampling import Subsampled as Subsampled
from littlestone.randomness import Randomness as Randomness
from littlestone.randomness import keyed as keyed
from littlestone.randomness import secure as secure
from littlestone.randomness import seeded as seeded
from littlestone.sanitizers.choose import sanitizer_for as sanitizer_for
from littlestone.sanitizers.fooling.discriminator import Discriminator as Discriminator
from littlestone.sanitizers.fooling.fooling_sanitizer import (
    FoolingSanitizer as FoolingSanitizer,
)
from littlestone.sanitizers.fooling.generator import Generator as Generator
from littlestone.sanitizers.labels import LabelConversion as LabelConversion
from littlestone.sanitizers.protocols import Sanitizer as Sanitizer
from littlestone.sanitizers.realizable.realizable_sanitizer import (
    RealizableSanitizer as RealizableSanitizer,
)
from littlestone.sanitizers.realizable.winnow_generator import FlagGenerator as FlagGenerator
from littlestone.sanitizers.specialised.histogram_sanitizer import (
    HistogramSanitizer as HistogramSanitizer,
)
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer as TreeSanitizer
from littlestone.sanitizers.stream.interval_sanitizer import (
    IntervalSanitizer as IntervalSanitizer,
)
from littlestone.service.durable import DifferentContentError as DifferentContentError
from littlestone.service.durable import DurableRun as DurableRun
from littlestone.service.learning import BadRowError as BadRowError
from littlestone.service.log.intake import Event as Event
from littlestone.service.log.intake import Receipt as Receipt
from littlestone.service.published import AlteredError as AlteredError
from littlestone.theory.floors import points_floor as points_floor

__all__: list[str]
__version__: str
