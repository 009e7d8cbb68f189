"""PrivatePrediction against learners that release a whole hypothesis, at equal epsilon."""

from collections.abc import Iterator
from typing import Any

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.boundary import Boundary
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.learners.experts.play_experts import play_predictions
from littlestone.learners.experts.private_prediction import PrivatePrediction
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

ADVERSARIES = (MistakeForcing, Boundary, RandomStream)
DELTA = 1e-6


def measure() -> Iterator[Row]:
    """Mistakes against the worst of three adversaries, a game each; then bounds by dimension."""
    for concepts in (Points(1024), Thresholds(7)):
        for rounds, epsilon in ((10**4, 1.0), (10**5, 1.0), (10**6, 1.0), (10**5, 8.0)):
            yield compared(concepts, rounds, epsilon)
    for rounds in (10**6, 10**7, 10**8):
        yield bounds(rounds)


def compared(concepts: Any, rounds: int, epsilon: float) -> Row:
    """Private prediction, and PrivateMajority beside it."""
    asked = PrivatePrediction(concepts=concepts, rounds=rounds, epsilon=epsilon, delta=DELTA)
    published = PrivateMajority(concepts=concepts, rounds=rounds, epsilon=epsilon)
    worst = max(
        play_predictions(asked, foe(concepts), rounds=rounds, rng=secure()).mistakes
        for foe in ADVERSARIES
    )
    other = max(
        play(published, foe(concepts), rounds=rounds, rng=secure()).mistakes for foe in ADVERSARIES
    )
    bound = asked.mistake_bound(failure_probability=0.05)
    return (
        f"{concepts!r}, {rounds:,} rounds, ε = {epsilon:g}: mistakes, worst",
        f"{worst:,} (bound {bound:,.0f}); PrivateMajority {other:,}",
        "≤ its bound",
        worst <= bound,
    )


def bounds(rounds: int) -> Row:
    """What is proved at epsilon = 1, by the dimension, beside the proved forest."""
    proved = []
    for n in (1, 3, 7, 15, 31):
        given: dict[str, Any] = {"concepts": Thresholds(n), "rounds": rounds, "delta": DELTA}
        asked = PrivatePrediction(**given, epsilon=1.0).mistake_bound(failure_probability=0.05)
        text = f"{asked:,.0f}"
        if n <= 7:
            forest = LazyForest.proved(**given, epsilon=1.0)
            text += f" (forest {forest.mistake_bound(failure_probability=0.05):,.0f})"
        proved.append(text)
    return f"{rounds:,} rounds, ε = 1: bounds for d = 1 … 5", "; ".join(proved), "", None
