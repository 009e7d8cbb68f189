"""Votes by weight, and the steady rule of a run's releases."""

import numpy as np
import pytest
from tests import rule_rows

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.weighted_vote import MOST, Releases, WeightedVote
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.concepts.schema import Schema

SCHEMA = Schema.from_mapping({"x": {"grid": [0, 1, 2, 3]}})
NEVER, ALWAYS = DecisionTree(SCHEMA, 0), DecisionTree(SCHEMA, 1)
ABOVE = [DecisionTree(SCHEMA, ((0, cell, 4), 1, 0)) for cell in range(1, 5)]


class Three:
    """A hypothesis of three labels, on 0 to 2."""

    def __init__(self, *labels: int) -> None:
        self.labels = labels

    def __call__(self, x: int, /) -> int:
        return self.labels[x]

    def many(self, xs: list[int], /) -> np.ndarray:
        return np.array([self.labels[x] for x in xs], dtype=np.uint8)

    def disagreement(self, other: object, /) -> None:
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        return {"kind": "three", "labels": list(self.labels)}

    def describe(self) -> str:
        return str(self.labels)


def test_the_largest_total_wins_and_of_equals_the_smallest_label() -> None:
    vote = WeightedVote([(Three(2, 1, 0), 3), (Three(2, 0, 2), 2), (Three(1, 0, 1), 1)])
    assert [vote(x) for x in range(3)] == vote.many([0, 1, 2]).tolist() == [2, 0, 0]


def test_many_says_what_each_call_says() -> None:
    rules = list(rule_rows.rules(np.random.default_rng(3)))
    vote = next(rule for rule in rules if isinstance(rule, WeightedVote))
    cells = rule_rows.SCHEMA.sample(300, np.random.default_rng(4))
    assert vote.many(cells).tolist() == [vote(point) for point in cells]
    assert vote.many([]).tolist() == []


def test_equal_members_are_merged_and_weights_reduced() -> None:
    vote = WeightedVote([(NEVER, 2), (ABOVE[0], 4), (NEVER, 4)])
    assert vote == WeightedVote([(ABOVE[0], 2), (NEVER, 3)])
    assert sum(vote.weights) == 5
    assert hypothesis_from_json(vote.to_json()) == vote


def test_two_votes_may_be_one_function() -> None:
    heavy = WeightedVote([(ABOVE[0], 5), (ABOVE[1], 1)])
    assert heavy.disagreement(ABOVE[0]) is None
    assert heavy.disagreement(ABOVE[1]) == (1,)


@pytest.mark.parametrize(
    "weighted", [[], [(NEVER, 0)], [(NEVER, -1)], [(NEVER, 1.5)], [(NEVER, 1 << 63)], [("x", 1)]]
)
def test_bad_members_are_refused(weighted: object) -> None:
    with pytest.raises(ValueError, match=r"weight|member"):
        WeightedVote(weighted)  # type: ignore[arg-type]


def test_describe_names_shares() -> None:
    words = WeightedVote([(NEVER, 1), (ABOVE[0], 3)]).describe()
    assert words == "vote of 2 rules: 75 % (1 if x >= 0 else 0), 25 % (0)"


def test_a_short_spell_does_not_change_the_steady_rule() -> None:
    spells = [(0, NEVER), (1_000, ABOVE[0]), (90_000, NEVER), (90_100, ABOVE[0]), (99_000, NEVER)]
    assert Releases(spells).steady() == ABOVE[0]
    assert Releases(spells[:-1]).steady() == ABOVE[0]


def test_a_rule_that_is_new_is_taken_as_it_is() -> None:
    assert Releases([(0, NEVER), (50_000, ABOVE[0]), (99_000, ABOVE[1])]).steady() == ABOVE[1]


def test_a_recent_rule_is_compared_since_it_was_first_published() -> None:
    """After a change windows still flip to the rule before, which had all rounds until then."""
    before, after = ABOVE[0], ABOVE[1]
    starts = [(1_000, before), (21_100, NEVER), (21_200, before), (21_400, after)]
    flips = [(21_600, before), (21_700, after), (22_900, before), (23_000, after)]
    assert Releases([(0, NEVER), *starts, *flips]).steady() == after
    # A rule that flips to a recent one for a while comes back.
    rare = [(21_400, after), (21_500, before), (25_000, after)]
    assert Releases([(0, NEVER), *starts[:3], *rare]).steady() == before


def test_rules_that_share_the_time_vote() -> None:
    spells = [(0, NEVER), *((1_500 * i, ABOVE[i % 4]) for i in range(1, 64))]
    steady = Releases(spells).steady()
    assert isinstance(steady, WeightedVote) and {*ABOVE} <= {*steady.members}
    assert all(isinstance(weight, int) for weight in steady.weights)


def test_a_key_that_was_listed_last_is_listed() -> None:
    lists = [FiniteSupport.on("a"), FiniteSupport.on("a", "b")]
    spells = [(0, lists[0]), (990, lists[1]), (995, lists[0]), (996, lists[1])]
    assert Releases(spells).steady() == lists[1]
    assert Releases([(0, TableHypothesis.from_labels([0, 1]))]).steady().describe()


def test_the_steady_rule_depends_on_the_newest_releases_alone() -> None:
    spells = [(100 * i - (i % 2) * 90, (NEVER, ABOVE[0])[i % 2]) for i in range(3 * MOST)]
    whole = Releases(spells)
    assert len(whole.to_json()) == MOST
    assert whole.steady() == Releases(spells[-MOST:]).steady() == ABOVE[0]


def test_where_rules_drift_the_last_one_is_taken() -> None:
    """Rules come back, but most of those published in the second half were not known before it."""
    known = [(0, NEVER), (1_000, ABOVE[0]), (20_000, NEVER), (30_000, ABOVE[0])]
    drift = [(51_000, ABOVE[1]), (52_000, ABOVE[2]), (60_000, ABOVE[1]), (60_100, ABOVE[2])]
    assert Releases([*known, *drift]).steady() == ABOVE[2]
    settled = [(51_000, NEVER), (52_000, ABOVE[0]), (60_000, NEVER)]
    assert Releases([*known, *settled]).steady() == ABOVE[0]


def test_a_late_round_counts_more_than_an_early_one() -> None:
    """The first rule has had more rounds of the last half, but early ones."""
    early, late = ABOVE[0], ABOVE[1]
    starts = (0, 100, 200, 760, 900, 902, 950, 952, 1000)
    releases = Releases((start, (early, late)[n % 2]) for n, start in enumerate(starts))
    assert releases.steady() == late


def test_the_weights_of_very_long_runs_are_shortened() -> None:
    shares = []
    for length in (1_500, 10**18):
        spells = [(0, NEVER), *((length * i, ABOVE[i % 4]) for i in range(1, 64))]
        steady = Releases(spells).steady()
        assert isinstance(steady, WeightedVote) and sum(steady.weights) <= 2**62
        total = sum(steady.weights)
        shares.append([weight / total for weight in steady.weights])
    assert shares[0] == pytest.approx(shares[1], rel=1e-3)
