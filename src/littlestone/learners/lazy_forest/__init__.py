"""The paper's realizable learner (Algorithms 1 and 2), and the forests that it is compared with."""

from typing import Any

from littlestone.learners.entry import LearnerEntry

# Measured against the adaptive adversaries at dimensions 2 and 3: 1.23 to 1.27.
_FACTOR = 1.27


def _predicted(recipe: Any) -> float:
    return float(_FACTOR * (recipe.plan.mistakes_per_layer[0] + recipe.plan.margins[0]))


LEARNERS = (
    LearnerEntry(
        name="lazy-forest",
        place=f"{__name__}.recipe:LazyForest.calibrated",
        summary="the paper's Algorithm 2, calibrated; any Littlestone class of small dimension",
        ranked=("realizable",),
        deepest=5,
        predicted=_predicted,
    ),
    LearnerEntry(
        name="lazy-forest (proved)",
        place=f"{__name__}.recipe:LazyForest.proved",
        summary="the paper's Algorithm 2 with its proved sizes",
        ranked=("realizable",),
        deepest=3,
        rank_only=True,
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
