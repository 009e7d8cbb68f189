"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.privacy.mechanisms.above_threshold import AboveThreshold as AboveThreshold
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals as DyadicIntervals
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums as CorrelatedSums
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold as CountAboveThreshold,
)
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent as FirstFrequent
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease as FrequentRelease
from littlestone.privacy.mechanisms.histogram import PrivateHistogram as PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount as LaplaceCount
from littlestone.privacy.mechanisms.noise.coins import BernoulliExp as BernoulliExp
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace as DiscreteLaplace
from littlestone.privacy.mechanisms.noise.geometric import Geometric as Geometric
from littlestone.privacy.mechanisms.noise.geometric import (
    TruncatedLaplace as TruncatedLaplace,
)
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip

__all__: list[str]
