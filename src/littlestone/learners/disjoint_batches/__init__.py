"""Draw rules from disjoint batches: each example is read by one draw."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="disjoint-batches",
        place=f"{__name__}.recipe:DisjointBatches",
        summary="the practical default for files of records: rules drawn from disjoint batches",
        needs_rounds=False,
        needs_delta=False,
    ),
)
