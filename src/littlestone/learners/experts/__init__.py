"""Private prediction from experts: play one, then see the losses of all."""

from littlestone.exports import exports
from littlestone.learners.entry import Part

__getattr__, __dir__ = exports(__name__, __file__)

PARTS = (
    Part(f"{__name__}.exponential_weights:ExponentialWeights"),
    Part(f"{__name__}.shrinking_dartboard:ShrinkingDartboard"),
)
