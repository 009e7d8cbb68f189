"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.learners.entry import Part
from littlestone.learners.experts.dartboard_plan import DartboardPlan as DartboardPlan
from littlestone.learners.experts.exponential_weights import (
    ExponentialWeights as ExponentialWeights,
)
from littlestone.learners.experts.exponential_weights import Hedge as Hedge
from littlestone.learners.experts.lazy_switching import LazySwitching as LazySwitching
from littlestone.learners.experts.protocols import Batches as Batches
from littlestone.learners.experts.protocols import ExpertsRecipe as ExpertsRecipe
from littlestone.learners.experts.realizable_experts import RealizableExperts as RealizableExperts
from littlestone.learners.experts.shrinking_dartboard import (
    ShrinkingDartboard as ShrinkingDartboard,
)

PARTS: tuple[Part, ...]

__all__: list[str]
