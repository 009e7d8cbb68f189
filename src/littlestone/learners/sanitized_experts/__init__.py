"""The paper's agnostic learner (Algorithms 5 to 7)."""

from littlestone.learners.entry import LearnerEntry

_EXPERTS = {"adaptive": "exponential-weights", "oblivious": "shrinking-dartboard"}

LEARNERS = (
    LearnerEntry(
        name="sanitized-experts",
        place=f"{__name__}.recipe:SanitizedExperts",
        summary="the paper's Algorithms 5 to 7: any Littlestone class, agnostic",
        ranked=("realizable", "agnostic"),
        against=lambda adversary: {"experts": _EXPERTS[adversary]},
    ),
)
