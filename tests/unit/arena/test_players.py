"""A Python player catches a broken learner and leaves a correct one alone."""

from pathlib import Path

import pytest

from littlestone.arena import telling
from littlestone.arena.players import matches, player_from
from littlestone.arena.suspects import Suspect
from littlestone.arena.telling import Telling
from littlestone.audit.registry import CONTROLS
from littlestone.randomness import secure

PLAYER = """
def play(world):
    world.send("a", 1, world.facts["reports"] - 1)
    if world.shown.hypothesis("a"):
        return None
    shown = world.challenge(("a", 1), ("b", 0))
    return 0 if shown.hypothesis("a") else None
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "player.py"
    path.write_text(PLAYER)
    return path


@pytest.mark.parametrize("name", ["keys-true-count", "keys-noise-when-reported"])
def test_a_player_catches_a_broken_learner(
    file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All guesses are right; the learner lists the key in at least one game of eight.
    monkeypatch.setattr(Suspect, "chosen", lambda *_: (CONTROLS[name].subject, name))
    scores = list(matches(Telling("keys", "broken", rng=secure()), player_from(file), 2_000))
    assert scores[-1]["refuted"] and len(scores) < 2_000 and scores[-1]["wrong"] == 0


def test_a_correct_learner_is_not_refuted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fails with probability at most 1e-9: that is what the bound is asked for.
    monkeypatch.setattr(telling, "FAILURE", 1e-9)
    scores = list(matches(Telling("keys", "correct", rng=secure()), player_from(file), 300))
    assert len(scores) == 300 and scores[-1]["right"] + scores[-1]["wrong"] > 0


def test_a_file_without_a_player_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("x = 1")
    with pytest.raises(ValueError, match=r"play\(world\)"):
        player_from(path)
