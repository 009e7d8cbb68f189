"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.learners import batch as batch
from littlestone.learners import experts as experts
from littlestone.learners import online as online
from littlestone.learners import sanitizers as sanitizers
from littlestone.learners.agnostic_finite.naive_recomposition import (
    NaiveRecomposition as NaiveRecomposition,
)
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses as NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite as AgnosticFinite
from littlestone.learners.disjoint_batches.recipe import DisjointBatches as DisjointBatches
from littlestone.learners.experts.play_experts import Predictor as Predictor
from littlestone.learners.experts.play_experts import (
    play_predictions as play_predictions,
)
from littlestone.learners.experts.prediction_plan import PredictionPlan as PredictionPlan
from littlestone.learners.experts.private_prediction import PrivatePrediction as PrivatePrediction
from littlestone.learners.lazy_forest.eager_forest import EagerForest as EagerForest
from littlestone.learners.lazy_forest.eager_forest import TooManyTreesError as TooManyTreesError
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies as FreshCopies
from littlestone.learners.lazy_forest.plan import ForestBudgets as ForestBudgets
from littlestone.learners.lazy_forest.plan import ForestPlan as ForestPlan
from littlestone.learners.lazy_forest.recipe import ForestTooLargeError as ForestTooLargeError
from littlestone.learners.lazy_forest.recipe import LazyForest as LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys as PrivateKeys
from littlestone.learners.private_linear.recipe import PrivateLinear as PrivateLinear
from littlestone.learners.private_majority.plan import EpochPlan as EpochPlan
from littlestone.learners.private_majority.plan import FreshPlan as FreshPlan
from littlestone.learners.private_majority.plan import SampledPlan as SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority as PrivateMajority
from littlestone.learners.private_witnesses.plan import WitnessPlan as WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses as PrivateWitnesses
from littlestone.learners.restarting import Restarting as Restarting
from littlestone.learners.run import PrivateLearner as PrivateLearner
from littlestone.learners.run import PrivateRun as PrivateRun
from littlestone.learners.sanitized.batches import SanitizedBatches as SanitizedBatches
from littlestone.learners.sanitized.recipe import SanitizedExperts as SanitizedExperts
from littlestone.learners.unknown_horizon import UnknownHorizon as UnknownHorizon

__all__: list[str]
