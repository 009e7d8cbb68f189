"""Learners that run copies of other learners."""

from littlestone.learners.entry import Part

PARTS = (
    Part(f"{__name__}.restarting:Restarting"),
    Part(f"{__name__}.unknown_horizon:UnknownHorizon"),
)
