"""Which adversary goes with which mechanism: the audits that the command line can name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from littlestone.audit import attacks
from littlestone.audit.subjects import (
    CountSubject,
    HistogramSubject,
    MonitorSubject,
    SelectionSubject,
)
from littlestone.audit.two_worlds import Subject, TwoWorldAdversary
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.mechanisms.laplace_count import LaplaceCount

# One favoured element against this many others: the ratio shows 92 % of epsilon, often enough.
OTHERS = 12
# Far enough above the list threshold for truncation not to matter.
COPIES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A mechanism at a given budget, and the strongest adversary that we know for it."""

    subject: Callable[[float, float], Subject]
    adversary: TwoWorldAdversary
    summary: str


def _selection() -> attacks.OneQuestion:
    return attacks.OneQuestion(
        zero=[0] + [1] * OTHERS, one=[1] + [0] * OTHERS, notice=lambda chosen: chosen == 0
    )


def _released_count(released: Mapping[str, int]) -> int:
    return dict(released).get("key", 0)


AUDITS: Mapping[str, AuditEntry] = {
    "above-threshold": AuditEntry(
        subject=lambda epsilon, _: MonitorSubject(
            CountAboveThreshold(epsilon=epsilon, threshold=1)
        ),
        adversary=attacks.FirstRound(),
        summary="one-sided AboveThreshold: one bit changed in the first round",
    ),
    "private-histogram": AuditEntry(
        subject=lambda epsilon, delta: HistogramSubject(
            PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="add-remove")
        ),
        adversary=attacks.OneQuestion(
            zero=["key"] * COPIES, one=["key"] * (COPIES + 1), notice=_released_count
        ),
        summary="PrivateHistogram: one element added",
    ),
    "exponential": AuditEntry(
        subject=lambda epsilon, _: SelectionSubject(ExponentialMechanism(epsilon=epsilon)),
        adversary=_selection(),
        summary="exponential mechanism: one score up, all others down",
    ),
    "laplace-count": AuditEntry(
        subject=lambda epsilon, _: CountSubject(LaplaceCount(epsilon=epsilon)),
        adversary=attacks.OneQuestion(zero=0, one=1),
        summary="discrete Laplace noise on a count: the count moves by one",
    ),
}

CONTROLS: Mapping[str, TwoWorldAdversary] = {
    "releases-noisy-answer": attacks.OneQuestion(
        zero=[0] * 8 + [1], one=[1] * 8 + [0], notice=attacks.above_or_below
    ),
    "query-noise-not-scaled": attacks.OneQuestion(
        zero=[0] * 5 + [1] * 5, one=[1] * 5 + [0] * 5, notice=lambda answers: answers
    ),
    "no-query-noise": attacks.OneQuestion(zero=[0, 1], one=[1, 0]),
    "no-cut-off": attacks.OneQuestion(
        zero=[0] * 12, one=[1] * 6 + [-1] * 6, notice=attacks.yes_counts
    ),
    "noisy-max-value": attacks.OneQuestion(zero=[0] * 6, one=[1] * 6),
    "histogram-scale-inverted": attacks.OneQuestion(zero=0, one=1),
    "float-laplace": attacks.OneQuestion(zero=0, one=1, notice=attacks.finer_than_the_grid),
    "threshold-noise-reused": attacks.LearnTheThreshold(),
    "overlapping-instances": attacks.FirstRound(),
    "histogram-threshold-low": attacks.OneQuestion(
        zero=["key"], one=[], notice=lambda released: "key" in released
    ),
    "noise-reused-after-restore": attacks.CompareTwoAnswers(),
    "fractional-bits": attacks.FractionalBits(),
    "add-remove-for-replace": attacks.OneQuestion(
        zero=["a"] * (COPIES + 1) + ["b"] * COPIES,
        one=["a"] * COPIES + ["b"] * (COPIES + 1),
        notice=lambda released: dict(released)["a"] - dict(released)["b"],
    ),
    "noise-skipped-when-correct": attacks.ThenWait(before=(0,), rounds=1),
    "counts-not-reset": attacks.SeveralYeses(),
    "exponential-half-sensitivity": _selection(),
}
