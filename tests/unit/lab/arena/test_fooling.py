"""Game one: what is refused and why, who plays, and what is kept."""

import itertools
import json

import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.game.referee import contradicted
from littlestone.lab.arena.boards import BOARDS, ROUNDS, marks
from littlestone.lab.arena.fooling import Fooling
from littlestone.randomness import seeded

PAIRS = [(name, learner) for name, board in BOARDS.items() for learner in board.learners]


def game(board: str = "line", learner: str = "standard-optimal", epsilon: float = 2.0) -> Fooling:
    return Fooling(board, learner, epsilon, rng=seeded(7))


def test_what_no_concept_fits_is_refused_with_the_reason() -> None:
    line = game()
    assert line.play(10, 1) == ""
    refused = line.play(15, 0)
    assert "15 with the label 0" in refused and "10 the label 1" in refused
    assert "from some point on everything is 1" in refused
    assert len(line.turns) == 1


def test_the_page_knows_beforehand_what_will_be_refused() -> None:
    line = game()
    line.play(10, 1)
    state = line.state()
    for x, allowed in zip(state["points"], state["open"], strict=True):
        for y in (0, 1):
            again = game()
            again.play(10, 1)
            assert (again.play(x, y) == "") is (str(y) in allowed)


def test_the_reason_has_nothing_to_spare() -> None:
    """Of concepts in which any two of three labels are possible, but not all three."""
    rows = [row for row in itertools.product((0, 1), repeat=4) if not row[0] & row[1] & row[2]]
    concepts = FiniteClass([list(row) for row in rows])
    assert contradicted(concepts, [(3, 1), (0, 1), (1, 1)], (2, 1)) == [(0, 1), (1, 1)]
    assert contradicted(concepts, [(3, 1), (0, 1)], (2, 1)) == []


def test_mistake_forcing_takes_over_from_where_the_game_stands() -> None:
    line = game()
    line.play(23, 0)
    line.let_mistake_forcing_play(times=100)
    assert line.mistakes <= 4 and line.state()["bound"] == 4.0
    assert all(turn.y == 0 for turn in line.turns if turn.x == 23)
    alone = game()
    alone.let_mistake_forcing_play(times=ROUNDS + 50)
    assert (alone.mistakes, len(alone.turns), alone.state()["over"]) == (4, ROUNDS, True)


@pytest.mark.parametrize(("name", "learner"), PAIRS)
def test_every_learner_plays_on_its_boards_within_its_bound(name: str, learner: str) -> None:
    one = Fooling(name, learner, 4.0, rng=seeded(3))
    one.let_mistake_forcing_play(times=60)
    state = one.state()
    assert len(state["turns"]) == 60 and 0 < state["mistakes"] <= max(state["bound"], 60)


def test_an_example_is_repeated_until_the_rule_changes() -> None:
    keys = game("keys", "private-keys", 4.0)
    keys.play("a.example", 1, times=ROUNDS, until_change=True)
    assert keys.turns[-1].changed and keys.state()["ones"] == ["a.example"]
    assert keys.mistakes == len(keys.turns) < 60
    assert "a.example" in keys.state()["points"]


def test_the_examples_of_a_game_can_be_played_again() -> None:
    first, second = (
        game("grid", "lazy-forest", 4.0),
        Fooling("grid", "lazy-forest", 4.0, rng=seeded(8)),
    )
    first.let_mistake_forcing_play(times=80)
    assert second.play_again([(x, y) for x, y, _, _ in first.turns]) == ""
    assert [turn[:2] for turn in second.turns] == [turn[:2] for turn in first.turns]
    assert "No concept fits" in second.play_again([(0, 1), (1, 1)])


def test_a_record_is_json_and_tells_the_whole_game() -> None:
    grid = game("grid", "lazy-forest", 4.0)
    grid.let_mistake_forcing_play(times=80)
    record = json.loads(json.dumps(grid.record()))
    assert record["kind"] == "littlestone-arena/1" and record["board"] == "grid"
    assert len(record["turns"]) == 80
    changes = [0] + [at for at, turn in enumerate(record["turns"], 1) if turn[3]]
    assert [number for number, _ in record["rules"]] == changes
    for at, (x, y, wrong, _) in enumerate(record["turns"]):
        rule = [rule for number, rule in record["rules"] if number <= at][-1]
        assert wrong is ((x in rule) != bool(y))


@pytest.mark.parametrize("x", [True, 1.5, None, "", "k" * 41, 1 << 60, [1]])
def test_points_that_no_page_can_send_are_refused(x: object) -> None:
    with pytest.raises(ValueError, match="x must be"):
        game("keys", "private-keys").play(x, 1)


@pytest.mark.parametrize(
    "chosen",
    [("moon", "halving", 1.0), ("line", "lazy-forest", 1.0), ("line", "standard-optimal", 0.3)],
)
def test_only_what_is_on_the_page_can_be_chosen(chosen: tuple[str, str, float]) -> None:
    with pytest.raises(ValueError, match=r"unknown board|must be one of"):
        Fooling(*chosen, rng=seeded(1))


def test_rivals_and_floor_stand_where_they_should() -> None:
    found = marks("line", "standard-optimal", 2.0, rng=seeded(5))
    assert found["floor"] == 4.0 and found["rivals"]["mistake-forcing"] == 4.0
    private = marks("grid", "private-keys", 4.0, rng=seeded(5))
    assert 0 < private["floor"] < private["rivals"]["mistake-forcing"]
