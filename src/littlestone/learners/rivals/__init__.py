"""Learners to compare with: recomposition in every round, and Golowich and Livni's forests."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="naive-recomposition",
        place=f"{__name__}.naive_recomposition:NaiveRecomposition",
        summary="baseline: the exponential mechanism in every round, composed",
    ),
    LearnerEntry(
        name="eager-forest",
        place=f"{__name__}.eager_forest:EagerForest",
        summary="baseline: Golowich and Livni's forest; accurate against oblivious adversaries",
    ),
    LearnerEntry(
        name="fresh-copies",
        place=f"{__name__}.fresh_copies:FreshCopies",
        summary="baseline: a fresh eager forest in every round; slow, about the root of the rounds",
    ),
)
