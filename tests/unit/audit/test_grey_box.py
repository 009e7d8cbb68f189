"""The grey-box replay notices each way in which a learner can leak past its mechanisms."""

from typing import Any

import pytest

from littlestone.audit.grey_box import check_sensitivity
from littlestone.audit.visits import SensitivityError
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness

STREAM = [(x % 5, x % 2) for x in range(12)]


class Toy:
    """Publishes the round of a monitor's yes; ``leak`` adds one mistake to it."""

    def __init__(self, leak: str = "none") -> None:
        self.leak = leak

    def start(self, *, rng: Randomness) -> "ToyRun":
        return ToyRun(self.leak, rng)


class ToyRun:
    def __init__(self, leak: str, rng: Randomness) -> None:
        self.leak, self.rng = leak, rng
        self.monitor = CountAboveThreshold(epsilon=1.0, threshold=4).start(rng=rng)
        self.queries = AboveThreshold(epsilon=1.0, threshold=1000).start(rng=rng)
        self.histogram = PrivateHistogram(epsilon=1.0, delta=1e-3, neighbours="add-remove")
        self.selection = ExponentialMechanism(epsilon=1.0, range_width=2)
        self.seen: list[tuple[Any, int]] = []
        self.published: list[Any] = []

    @property
    def hypothesis(self) -> Any:
        return tuple(self.published)

    def observe(self, x: Any, y: int) -> None:
        self.seen.append((x, y))
        ones = sum(label for _, label in self.seen)
        coin = self.rng.coin()
        self.published.append(coin)
        if not self.monitor.halted:
            bit = ones % 2 if self.leak == "bits" else y
            self.published.append(self.monitor.observe(bit))
        self.published.append(self.queries.ask(ones * 2 if self.leak == "queries" else ones))
        keys = [point for point, label in self.seen if label]
        if self.leak == "histogram":
            keys = [point for point, _ in self.seen]
        self.published.append(tuple(self.histogram.release(keys, rng=self.rng)))
        scores = [ones, len(self.seen) - ones]
        if self.leak == "scores":
            scores = [2 * score for score in scores]
        self.published.extend(self.selection.draw(scores, rng=self.rng))
        if self.leak == "control flow" and y:
            self.published.extend(self.selection.draw(scores, rng=self.rng))
        if self.leak == "plain" and len(self.seen) == 12:
            self.published.append(ones)


def check(leak: str) -> None:
    for seed in range(5):
        check_sensitivity(Toy(leak), STREAM, changed_round=4, instead=(3, 1), seed=seed)


def test_a_learner_that_uses_its_mechanisms_rightly_passes() -> None:
    check("none")


@pytest.mark.parametrize(
    ("leak", "message"),
    [
        ("bits", "more than one bit"),
        ("queries", "moved"),
        ("histogram", "add-remove histogram"),
        ("scores", "range_width"),
        ("control flow", "control flow"),
        ("plain", "no mechanism released"),
    ],
)
def test_a_leak_is_noticed(leak: str, message: str) -> None:
    with pytest.raises(SensitivityError, match=message):
        check(leak)
