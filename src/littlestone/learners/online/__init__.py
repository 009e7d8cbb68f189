"""Learners without privacy: deterministic mistake-bounded ones, and proper ones."""

from littlestone.exports import exports
from littlestone.learners.entry import LearnerEntry, Part

__getattr__, __dir__ = exports(__name__, __file__)

LEARNERS = (
    LearnerEntry(
        name="standard-optimal",
        place=f"{__name__}.standard_optimal:StandardOptimal",
        summary="baseline: the smallest mistake bound of all learners, no privacy",
        private=False,
    ),
    LearnerEntry(
        name="halving",
        place=f"{__name__}.halving:Halving",
        summary="baseline: majority of the consistent concepts, no privacy",
        private=False,
    ),
)

PARTS = (Part(f"{__name__}.sparse_majority:SparseMajority"),)
