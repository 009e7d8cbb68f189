"""Private online learners, each written as a recipe and an engine."""

from littlestone.exports import exports
from littlestone.learners.entry import Part

__getattr__, __dir__ = exports(__name__, __file__)

PARTS = (
    Part(f"{__name__}.restarting:Restarting"),
    Part(f"{__name__}.unknown_horizon:UnknownHorizon"),
)
