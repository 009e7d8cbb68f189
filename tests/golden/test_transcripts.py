"""Behaviour is what the golden transcripts say; `make golden` writes them anew."""

import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass
from types import ModuleType

import pytest
from tests.golden.games import TRANSCRIPTS, PrivateGame, games, text_of

import littlestone.game.adversaries
import littlestone.learners
import littlestone.learners.online
from littlestone.learners.run import PrivateLearner

GAMES = dict(games())


@pytest.mark.parametrize("name", GAMES)
def test_the_game_goes_as_it_always_did(name: str) -> None:
    kept = (TRANSCRIPTS / name).read_text(encoding="utf-8")
    assert text_of(GAMES[name]) == kept


def test_no_transcript_is_missing_or_left_over() -> None:
    assert {path.name for path in TRANSCRIPTS.iterdir()} == set(GAMES)


def recipes(package: ModuleType, duty: str, kind: type = object) -> set[str]:
    """The names of the classes of a package that can be started and have the named duty."""
    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )
    return {
        name
        for module in modules
        for name, found in inspect.getmembers(module, inspect.isclass)
        if found.__module__ == module.__name__
        and is_dataclass(found)  # a recipe is a frozen value; parts of learners are not
        and issubclass(found, kind)
        and not inspect.isabstract(found)
        and hasattr(found, "start")
        and hasattr(found, duty)
        and not getattr(found, "_is_protocol", False)
    }


def test_every_adversary_has_its_transcripts() -> None:
    played = {type(game.adversary).__name__ for games in GAMES.values() for game in games}
    assert recipes(littlestone.game.adversaries, "realizable") <= played


def test_every_learner_has_its_transcripts() -> None:
    played = {type(game.learner).__name__ for games in GAMES.values() for game in games}
    private = recipes(littlestone.learners, "guarantee", PrivateLearner)
    wanted = recipes(littlestone.learners.online, "mistake_bound") | private
    assert {"SparseMajority", "LazyForest"} <= wanted <= played


def test_private_transcripts_show_learning() -> None:
    private = [name for name, games in GAMES.items() if isinstance(games[0], PrivateGame)]
    kept = {name: (TRANSCRIPTS / name).read_text(encoding="utf-8") for name in private}
    assert kept and not [name for name, text in kept.items() if "switches   0" in text]
