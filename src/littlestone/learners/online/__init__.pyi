"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.learners.entry import LearnerEntry, Part
from littlestone.learners.online.halving import Halving as Halving
from littlestone.learners.online.linear import Perceptron as Perceptron
from littlestone.learners.online.linear import Winnow as Winnow
from littlestone.learners.online.proper import ProperOnlineLearner as ProperOnlineLearner
from littlestone.learners.online.proper_agnostic import ProperAgnostic as ProperAgnostic
from littlestone.learners.online.sparse_majority import SparseMajority as SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal as StandardOptimal

LEARNERS: tuple[LearnerEntry, ...]
PARTS: tuple[Part, ...]

__all__: list[str]
