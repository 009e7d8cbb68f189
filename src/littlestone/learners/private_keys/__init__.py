"""A published set of keys, learned from private reports and complaints."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="private-keys",
        place=f"{__name__}.recipe:PrivateKeys",
        summary="sets of keys, however many, over any universe: blocklists; adaptive adversaries",
        ranked=("realizable",),
    ),
)
