"""Majorities of privately drawn concepts: the practical realizable learner."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="private-majority",
        place=f"{__name__}.recipe:PrivateMajority",
        summary="the practical default for finite classes; realizable, adaptive adversaries",
        ranked=("realizable",),
    ),
)
