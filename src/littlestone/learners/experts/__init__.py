"""Private prediction: from experts, whose losses are then seen, and for those who ask."""

from littlestone.exports import exports
from littlestone.learners.entry import Part

__getattr__, __dir__ = exports(__name__, __file__)

PARTS = (
    Part(f"{__name__}.exponential_weights:ExponentialWeights"),
    Part(f"{__name__}.shrinking_dartboard:ShrinkingDartboard"),
)
