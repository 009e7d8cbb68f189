"""Private learning from witnesses: one noisy counter for each, without composition."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="private-witnesses",
        place=f"{__name__}.recipe:PrivateWitnesses",
        summary="conjunctions, thresholds, intervals, boxes, …; realizable, purely private",
        ranked=("realizable",),
    ),
)
