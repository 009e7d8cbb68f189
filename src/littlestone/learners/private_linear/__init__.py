"""Run online logistic regression on noisy sums of clipped gradients, in integers."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="linear",
        place=f"{__name__}.recipe:PrivateLinear",
        summary="logistic regression on noisy sums: for records whose fields add up",
        needs_rounds=False,
    ),
)
