"""The paper's agnostic learners: by sanitized batches (Algorithm 3), by experts (5 to 7)."""

from littlestone.learners.entry import LearnerEntry

_EXPERTS = {"adaptive": "exponential-weights", "oblivious": "shrinking-dartboard"}

LEARNERS = (
    LearnerEntry(
        name="sanitized-batches",
        place=f"{__name__}.batches:SanitizedBatches",
        summary="the paper's Algorithm 3: proper, agnostic, by sanitized batches",
        ranked=("realizable", "agnostic"),
    ),
    LearnerEntry(
        name="sanitized-experts",
        place=f"{__name__}.recipe:SanitizedExperts",
        summary="the paper's Algorithms 5 to 7: any Littlestone class, agnostic",
        ranked=("realizable", "agnostic"),
        against=lambda adversary: {"experts": _EXPERTS[adversary]},
    ),
)
