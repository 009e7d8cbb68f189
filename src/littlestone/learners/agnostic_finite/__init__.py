"""Prediction from experts in which the experts are the concepts of a finite class."""

from littlestone.learners.entry import LearnerEntry

LEARNERS = (
    LearnerEntry(
        name="agnostic-finite",
        place=f"{__name__}.recipe:AgnosticFinite",
        summary="the practical default for noisy data: finite classes, adaptive adversaries",
        ranked=("realizable", "agnostic"),
        against=lambda adversary: {"adversary": adversary},
    ),
    LearnerEntry(
        name="agnostic-finite-oblivious",
        place=f"{__name__}.recipe:AgnosticFinite",
        summary="the same with far less regret, if the stream does not react to what is published",
        fixed={"adversary": "oblivious"},
    ),
    LearnerEntry(
        name="naive-recomposition",
        place=f"{__name__}.naive_recomposition:NaiveRecomposition",
        summary="baseline: the exponential mechanism in every round, composed",
    ),
)
