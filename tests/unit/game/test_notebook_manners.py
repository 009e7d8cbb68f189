"""What notebooks show: three lines of a long game, tables, pictures; nothing secret of a run."""

from typing import Any

import matplotlib as mpl
import pytest

import littlestone as ls

mpl.use("Agg")
CONCEPTS = ls.Thresholds(64)
RECIPE = ls.PrivateMajority(concepts=CONCEPTS, rounds=10**6, epsilon=1.0)


@pytest.fixture(scope="module")
def transcript() -> ls.game.Transcript:
    return ls.play(RECIPE, ls.MistakeForcing(CONCEPTS), rounds=10**6, rng=ls.seeded(1))


def test_a_million_rounds_print_three_lines(transcript: ls.game.Transcript) -> None:
    lines = repr(transcript).splitlines()
    assert len(lines) == 3 and "1,000,000 rounds" in lines[2] and "not private" in lines[1]
    assert str(transcript) == repr(transcript)


def test_what_is_public_is_shown_as_html(transcript: ls.game.Transcript) -> None:
    assert "<pre>" in transcript._repr_html_()
    assert "<th>PrivateMajority</th><td>ε = 1</td>" in RECIPE._repr_html_()
    assert "73 %" in RECIPE.guarantee()._repr_html_()
    run = RECIPE.start()
    assert "ε = 1" in run.ledger._repr_html_()
    page = run._repr_html_()
    assert run.hypothesis.describe().replace(">", "&gt;") in page
    assert page.count("<tr>") == 4  # rule, changes, status, promise
    assert "NOT PRIVATE" in RECIPE.start(rng=ls.seeded(1))._repr_html_()


def test_a_run_shows_the_same_whatever_it_read() -> None:
    """Two runs with the same noise and other data, before anything is published of either."""
    shown = []
    for label in (0, 1):
        run = RECIPE.start(rng=ls.seeded(3))
        run.observe(10, label)
        shown.append(run._repr_html_())
    assert shown[0] == shown[1]


def test_pictures_are_drawn(transcript: ls.game.Transcript) -> None:
    (line,) = transcript.plot(label="mine").get_lines()
    assert line.get_label() == "mine" and line.get_ydata()[-1] == transcript.mistakes


def test_every_learner_meets_every_adversary() -> None:
    learners = {"optimal": ls.StandardOptimal(CONCEPTS), "private": RECIPE}
    adversaries: list[Any] = [ls.MistakeForcing(CONCEPTS), ls.RandomStream(CONCEPTS)]
    found = ls.game.compare(learners, adversaries, rounds=300, rng=ls.seeded(2), times=3)
    assert found.mistakes("optimal", "MistakeForcing") == CONCEPTS.littlestone_dimension
    assert len(found.games) == 4 and all(len(one.games) == 3 for one in found.games.values())
    assert len(found.plot().get_lines()) == 4 and "<pre>" in found._repr_html_()
    assert repr(found).splitlines()[0].split() == ["MistakeForcing", "RandomStream"]


def test_equal_classes_are_numbered() -> None:
    pair = [ls.StandardOptimal(CONCEPTS), ls.StandardOptimal(CONCEPTS)]
    found = ls.game.compare(pair, [ls.MistakeForcing(CONCEPTS)], rounds=30, rng=ls.seeded(2))
    assert found.learners == ("StandardOptimal 1", "StandardOptimal 2")


def test_a_schema_is_a_table_and_its_names_are_text() -> None:
    schema = ls.Schema.from_mapping(
        {
            "<b>": {"values": ["x&y", "z"]},
            "size": {"range": [0, 10], "missing": "own value"},
            "left": {"date": ["hour"]},
            "shop": {"buckets": 8},
        }
    )
    page = schema._repr_html_()
    assert page.count("<tr>") == 5 and "<b>" not in page and "x&amp;y, z" in page
    for words in ("is missing", "hour of the date", "8 buckets of a public hash", "0, 1, 2"):
        assert words in page, words
    assert "e+30" not in page  # the mark of the cell for missing values
