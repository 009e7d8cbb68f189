"""A Python player catches a broken learner and leaves a correct one alone."""

from pathlib import Path

import pytest
from tests.chance import FALSE_FAILURE_PROBABILITY, in_one_of_many

from littlestone.audit.registry import CONTROLS
from littlestone.audit.two_worlds import Shown
from littlestone.lab.arena import telling
from littlestone.lab.arena.telling import (
    SUSPECTS,
    Player,
    PlayersWorld,
    Suspect,
    Telling,
    matches,
    player_from,
)
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
    # That is what the bound is asked for.
    monkeypatch.setattr(telling, "FAILURE", FALSE_FAILURE_PROBABILITY)
    scores = list(matches(Telling("keys", "correct", rng=secure()), player_from(file), 300))
    assert len(scores) == 300 and scores[-1]["right"] + scores[-1]["wrong"] > 0


def test_a_file_without_a_player_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("x = 1")
    with pytest.raises(ValueError, match=r"play\(world\)"):
        player_from(path)


# The programs that the page begins with, in Python.


def one_more_report(world: PlayersWorld) -> int | None:
    world.send("a", 1, world.facts["reports"] - 1)
    if world.shown.hypothesis("a"):
        return None
    return 0 if world.challenge(("a", 1), ("b", 0)).hypothesis("a") else None


def noise_of_others(world: PlayersWorld) -> int | None:
    most = 0
    for key in "pqrstu":
        world.send(key, 1, 80)
        most = max(most, world.sent)
    world.send("a", 1, most - 1)
    if world.shown.hypothesis("a"):
        return None
    return None if world.challenge(("a", 1), ("b", 0)).hypothesis("a") else 1


def until_released(world: PlayersWorld) -> Shown:
    while not world.shown.hypothesis("a"):
        world.send("a", 1, 50)
    return world.shown


def last_mistake(world: PlayersWorld) -> int | None:
    before = until_released(world)
    if world.send("a", 0, world.facts["switch"] - 1) != before:
        return None
    return 0 if world.challenge(("a", 0), ("a", 1)) != before else None


def noise_of_the_first_copy(world: PlayersWorld) -> int | None:
    until_released(world)
    world.send("a", 0, 100)
    if world.sent > world.facts["switch"]:
        return None
    before = until_released(world)
    if world.challenge(("a", 0), ("a", 1)) != before:
        return None
    return 1 if world.send("a", 1, 30) == before else None


def drawn_again_and_again(world: PlayersWorld) -> int | None:
    world.challenge((0, 1), (1, 1))
    lead = 0
    for _ in range(28):
        before = world.shown.hypothesis
        now = world.send(0, before(0), 20).hypothesis
        lead += 0 if before(0) or before(1) else now(0) - now(1)
    return None if abs(lead) < 4 else int(lead < 0)


CATCHERS = {
    "keys-true-count": one_more_report,
    "keys-noise-when-reported": one_more_report,
    "keys-one-noise": noise_of_others,
    "forest-timed-by-true-count": last_mistake,
    "forest-noise-skipped-when-correct": last_mistake,
    "forest-threshold-noise-reused": noise_of_the_first_copy,
    "majority-counts-kept": drawn_again_and_again,
}


def test_there_is_a_program_for_every_control() -> None:
    assert set(CATCHERS) == {name for suspect in SUSPECTS.values() for name in suspect.controls}


@pytest.mark.statistical
@pytest.mark.parametrize("name", CATCHERS)
def test_every_control_of_the_arena_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Suspect, "chosen", lambda *_: (CONTROLS[name].subject, name))
    suspect = name.partition("-")[0]

    def attempt() -> bool:
        match = Telling(suspect, "broken", rng=secure())
        return bool(list(matches(match, CATCHERS[name], 15_000))[-1]["refuted"])

    assert in_one_of_many(attempt)


@pytest.mark.statistical
@pytest.mark.parametrize("player", dict.fromkeys(CATCHERS.values()))
def test_no_program_refutes_a_correct_learner(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    # That is what the bound is asked for.
    monkeypatch.setattr(telling, "FAILURE", FALSE_FAILURE_PROBABILITY)
    suspect = next(name for name, one in CATCHERS.items() if one is player).partition("-")[0]
    scores = list(matches(Telling(suspect, "correct", rng=secure()), player, 1_500))
    assert len(scores) == 1_500
