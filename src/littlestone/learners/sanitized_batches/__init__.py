"""The paper's proper agnostic learner (Algorithm 3)."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="sanitized-batches",
        place=f"{__name__}.recipe:SanitizedBatches",
        summary="the paper's Algorithm 3: proper, agnostic, by sanitized batches",
        ranked=("realizable", "agnostic"),
    ),
)
