"""Game two: the rules, that the coin cannot be seen before the guess, and that it can be won."""

from typing import Any

import pytest

from littlestone.audit.registry import CONTROLS
from littlestone.audit.two_worlds import Opening, Shown, Subject
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.http.arena import Move, answered_move
from littlestone.lab.arena import telling
from littlestone.lab.arena.telling import SUSPECTS, Suspect, Telling
from littlestone.randomness import Randomness, seeded

SHOWN = Shown(FiniteSupport.on(), "quiet")
SCRIPT = (
    Move(),
    Move(game=1, example=("a", 1), times=9),
    Move(game=1, pair=(("a", 1), ("b", 0))),
    Move(game=1, pair=(("a", 1), ("b", 0))),
    Move(game=1, example=("a", 0)),
    Move(game=2, example=("a", 0)),
)


def silent(seen: list[Any]) -> Subject:
    """Shows the same whatever it is told: all that could tell the worlds apart is the arena."""

    def start(_: Randomness) -> tuple[Opening, Any]:
        def answer(example: Any) -> Shown:
            seen.append(example)
            return SHOWN

        return Opening(None, SHOWN), answer

    return Subject(name="silent", claimed=SUSPECTS["keys"].claimed, open=start)


def answers(monkeypatch: pytest.MonkeyPatch, bit: int) -> tuple[list[Any], list[Any]]:
    """All that a player is told before the guess in this world, and what the learner got."""
    seen: list[Any] = []
    monkeypatch.setattr(Suspect, "chosen", lambda *_: (silent(seen), "secret"))
    monkeypatch.setattr(Randomness, "coin", lambda _: bit)
    game = Telling("keys", "broken", rng=seeded(1))
    told: list[Any] = [game.about(), game.score()]
    for move in SCRIPT:
        told += [answered_move(game, move), game.score()]
    return told, seen


def test_nothing_but_the_learner_tells_the_worlds_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (zero, sent_zero), (one, sent_one) = (answers(monkeypatch, bit) for bit in (0, 1))
    assert zero == one and "secret" not in repr(zero)
    assert sent_zero != sent_one  # the worlds were different


def test_a_planted_leak_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = telling.Telling.send

    def leaking(game: Telling, number: int, example: Any, times: int = 1) -> tuple[int, Shown]:
        sent, shown = honest(game, number, example, times)
        return sent + game._games[number].bit, shown

    monkeypatch.setattr(telling.Telling, "send", leaking)
    (zero, _), (one, _) = (answers(monkeypatch, bit) for bit in (0, 1))
    assert zero != one


@pytest.mark.parametrize("bad", [["a"], ["a", 2], [None, 1], "ab", [1.5, 0]])
def test_a_refusal_does_not_depend_on_the_coin(bad: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = []
    for bit in (0, 1):
        monkeypatch.setattr(Randomness, "coin", lambda _, bit=bit: bit)
        game = Telling("keys", "correct", rng=seeded(1))
        number, _ = game.open()
        for pair in ((("a", 1), bad), (bad, ("a", 1))):
            with pytest.raises(ValueError, match=r"must be|an example is") as refused:
                game.challenge(number, *pair)
            refusals.append(str(refused.value))
        assert game._games[number].rounds == 0
    assert refusals[:2] == refusals[2:]


@pytest.mark.parametrize("outside", ["a", 2, -1])
def test_a_point_of_no_concept_does_not_show_the_coin(
    outside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bit in (0, 1):
        monkeypatch.setattr(Randomness, "coin", lambda _, bit=bit: bit)
        game = Telling("majority", "correct", rng=seeded(1))
        number, _ = game.open()
        for pair in (((0, 1), (outside, 1)), ((outside, 1), (0, 1))):
            with pytest.raises(ValueError):
                game.challenge(number, *pair)
        assert game._games[number].rounds == 0


def test_the_rules_are_kept() -> None:
    game = Telling("keys", "correct", rng=seeded(1))
    number, _ = game.open()
    with pytest.raises(ValueError, match="the same"):
        game.guess(number, 1)
    game.challenge(number, ("a", 1), ("b", 0))
    with pytest.raises(ValueError, match="one special round"):
        game.challenge(number, ("a", 1), ("b", 0))
    assert game.guess(number, None) in (0, 1)
    with pytest.raises(ValueError, match="no such game"):
        game.guess(number, 1)
    assert game.score()["games"] == 1 and game.score()["right"] == 0


def test_games_and_rounds_are_bounded() -> None:
    game = Telling("keys", "correct", rng=seeded(1))
    for _ in range(telling.MOST_GAMES):
        number, _ = game.open()
    with pytest.raises(ValueError, match="at most 64 games"):
        game.open()
    assert game.send(number, ("a", 0), 10_000)[0] == telling.MOST_ROUNDS
    with pytest.raises(ValueError, match="600 rounds"):
        game.challenge(number, ("a", 1), ("b", 0))


def test_counting_anew_is_paid_for() -> None:
    """All counts together may fail as often as one: the parts 1/2, 1/6, 1/12, … add up to 1."""
    game = Telling("keys", "correct", rng=seeded(1))
    allowed = []
    for _ in range(1000):
        allowed.append(game.guesses.failure_probability)
        game.restart_count()
    assert 0.99 * telling.FAILURE < sum(allowed) <= telling.FAILURE
    assert game.score()["games"] == 0


def test_the_truth_ends_the_games() -> None:
    game = Telling("forest", "broken", rng=seeded(1))
    number, _ = game.open()
    assert "It was broken (forest-" in game.reveal()
    with pytest.raises(ValueError, match="no such game"):
        game.guess(number, None)
    with pytest.raises(ValueError, match="begin a new session"):
        game.open()


@pytest.mark.parametrize("suspect", SUSPECTS.values(), ids=SUSPECTS)
def test_a_control_looks_like_the_learner_it_claims_to_be(suspect: Suspect) -> None:
    for name in suspect.controls:
        subject = CONTROLS[name].subject
        opening, _ = subject.open(seeded(1))
        correct, _ = Subject.from_learner(suspect.recipe).open(seeded(1))
        assert subject.claimed == suspect.claimed
        assert opening.shown == correct.shown
        assert suspect.known(opening.recipe) == suspect.known(suspect.recipe)
        assert opening.recipe.concepts == suspect.recipe.concepts


def test_who_is_wanted_comes() -> None:
    keys = SUSPECTS["keys"]
    found = {keys.chosen("coin", seeded(seed))[1].partition(".")[0] for seed in range(40)}
    assert len(found) == 1 + len(keys.controls)
    assert all("broken" in keys.chosen("broken", seeded(seed))[1] for seed in range(10))
    with pytest.raises(ValueError, match="wanted must be one of"):
        keys.chosen("both", seeded(1))
    assert telling.WANTED == ("correct", "broken", "coin")
