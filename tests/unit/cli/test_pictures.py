"""What a picture of games says beside the lines."""

from pathlib import Path
from typing import Any

import pytest

from littlestone.cli import pictures
from littlestone.cli.play import _bound
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import seeded


def test_a_story_has_four_lines_and_says_what_each_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(pictures, "_save", lambda figure, axes, path: drawn.append(axes))
    concepts = Thresholds(6)
    learner = PrivateMajority(concepts=concepts, rounds=5000, epsilon=1.0)
    game = play(learner, RandomStream(concepts), rounds=50, rng=seeded(1))
    bound = _bound(learner, 5000)
    pictures.one_story(game, game, tmp_path / "x.png", title="ε = 1", bound=bound, floor=2.0)
    (axes,) = drawn
    assert axes.get_title() == "ε = 1" and axes.get_legend() is None
    labels = [text.get_text().split(":")[0].strip() for text in axes.texts]
    assert labels == [
        "this private learner",
        "not private",
        "its proved bound",
        "floor of all private learners",
    ]
    assert axes.lines[2].get_ydata()[0] == bound and axes.lines[3].get_ydata()[0] == 2.0
    pictures.one_story(game, game, tmp_path / "x.png", title="", bound=None, floor=None)
    assert len(drawn[1].lines) == 2


def test_a_bound_that_says_nothing_is_not_drawn() -> None:
    learner = PrivateMajority(concepts=Thresholds(6), rounds=20, epsilon=1.0)
    assert _bound(learner, 20) is None
    assert _bound(StandardOptimal(Thresholds(6)), 20) is None
