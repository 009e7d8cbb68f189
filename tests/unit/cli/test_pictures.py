"""What a picture of games says beside the lines."""

from pathlib import Path
from typing import Any

import pytest

from littlestone.adversaries.random_stream import RandomStream
from littlestone.cli import demo, pictures
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.play import play
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded


def test_bounds_and_the_title_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(pictures, "_save", lambda figure, axes, path: drawn.append(axes))
    concepts = Thresholds(6)
    learner = PrivateMajority(concepts=concepts, rounds=5000, epsilon=1.0)
    game = play(learner, RandomStream(concepts), rounds=50, rng=seeded(1))
    bounds = {"private": demo._bound(learner, 5000), "other": None}
    games = {"private": game, "other": game}
    pictures.cumulative_mistakes(games, tmp_path / "x.png", title="ε = 1", bounds=bounds)
    (axes,) = drawn
    assert axes.get_title() == "ε = 1" and len(axes.lines) == 3
    assert axes.lines[1].get_ydata()[0] == bounds["private"]


def test_a_bound_that_says_nothing_is_not_drawn() -> None:
    learner = PrivateMajority(concepts=Thresholds(6), rounds=20, epsilon=1.0)
    assert demo._bound(learner, 20) is None
    assert demo._bound(StandardOptimal(Thresholds(6)), 20) is None
