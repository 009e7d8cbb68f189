"""Scorecards: points in whole numbers, words, JSON, where two differ."""

import itertools

import numpy as np
import pytest

from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.schema import Schema

SCHEMA = Schema.from_mapping({"a": {"grid": [0, 1, 2]}, "b": {"values": ["x", "y"]}})
CARD = Scorecard(SCHEMA, 1, ((2,), (0, -5)))


def test_the_points_of_the_fields_are_added_up() -> None:
    for cells in itertools.product(range(4), range(2)):
        wanted = int(1 + 2 * (2 * cells[0] - 3) - 5 * (cells[1] == 1) > 0)
        assert CARD(cells) == wanted == CARD.many(np.array([cells]))[0]


def test_it_is_told_in_words_and_comes_back_from_json() -> None:
    assert CARD.describe() == "1 where 6·a - 5·(b == 'y') + 1 > 0, numbers from -1 to 1"
    assert Scorecard(SCHEMA, 0, ((0,), (0, 0))).describe() == "0 everywhere"
    assert hypothesis_from_json(CARD.to_json()) == CARD
    with pytest.raises(ValueError, match="points"):
        hypothesis_from_json({**CARD.to_json(), "points": [[1], [2]]})
    with pytest.raises(ValueError, match="constant"):
        hypothesis_from_json({**CARD.to_json(), "constant": "1"})


def test_where_two_differ() -> None:
    other = Scorecard(SCHEMA, 1, ((2,), (0, -7)))
    point = CARD.disagreement(other)
    assert point is not None and CARD(point) != other(point)
    assert CARD.disagreement(Scorecard(SCHEMA, 2, ((4,), (0, -10)))) is None
    with pytest.raises(ValueError, match="less than"):
        Scorecard(SCHEMA, 1 << 62, ((2,), (0, -5)))
