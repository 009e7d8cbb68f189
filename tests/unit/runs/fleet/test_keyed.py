"""One run of many: numbers, secrets, seals, and states that are small and the same everywhere."""

import json
from typing import Any

import pytest

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError, SequenceGapError, SnapshotError
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness.word_sources import Keyed
from littlestone.runs.fleet.keyed import KeyedRun, advance, key_name, rounds_of
from littlestone.runs.journal.records import check_chain

SECRET = bytes(range(32))
MAJORITY = PrivateMajority(concepts=Thresholds(1024), rounds=1000, epsilon=1.0)
FOREST = LazyForest.calibrated(concepts=Points(), rounds=1000, epsilon=1.0, delta=1e-6)


def fed(
    events: int, *, recipe: Any = MAJORITY, secret: bytes = SECRET, key: Any = "a"
) -> tuple[bytes, Any]:
    xs = [place * 37 % 50 for place in range(events)]
    ys = [int(x == 49) for x in xs]
    return advance(recipe, secret, key, None, range(1, events + 1), xs, ys)


def test_repeats_are_dropped_whatever_they_say() -> None:
    state, _ = fed(5)
    same = advance(MAJORITY, SECRET, "a", state, [1, 3, 5, 5], [0, 0, 0, 0], [1, 1, 1, 1])
    assert same == (state, [])
    once = advance(MAJORITY, SECRET, "a", state, [6], [700], [1])
    twice = advance(MAJORITY, SECRET, "a", state, [4, 6, 6], [1, 700, 3], [0, 1, 0])
    assert once == twice != (state, [])


def test_a_gap_is_refused_with_both_numbers() -> None:
    state, _ = fed(5)
    with pytest.raises(SequenceGapError, match="event 6 of this key is missing") as refusal:
        advance(MAJORITY, SECRET, "a", state, [7], [1], [0])
    assert (refusal.value.expected, refusal.value.got) == (6, 7)
    with pytest.raises(SequenceGapError):
        advance(MAJORITY, SECRET, "a", None, [2], [1], [0])
    with pytest.raises(ValueError, match="seqs"):
        advance(MAJORITY, SECRET, "a", None, [0, 1], [1, 1], [0, 0])


def test_the_horizon_counts_each_event_once() -> None:
    state, _ = fed(1000)
    assert advance(MAJORITY, SECRET, "a", state, [999, 1000], [1, 1], [0, 0]) == (state, [])
    with pytest.raises(HorizonExceededError):
        advance(MAJORITY, SECRET, "a", state, [1001], [1], [0])


def test_bad_points_are_refused_and_lengths_compared() -> None:
    with pytest.raises(ValueError, match="x must be an integer"):
        advance(MAJORITY, SECRET, "a", None, [1], [1024], [0])
    with pytest.raises(ValueError, match="x must be an integer"):
        advance(MAJORITY, SECRET, "a", None, [1, 2], [3, -1], [0, 0])
    with pytest.raises(ValueError, match="equally long"):
        advance(MAJORITY, SECRET, "a", None, [1, 2], [3], [0])


@pytest.mark.parametrize("recipe", [MAJORITY, FOREST], ids=["majority", "forest"])
def test_every_changed_byte_of_a_state_is_noticed(recipe: Any) -> None:
    state, _ = fed(20, recipe=recipe)
    for place in range(0, len(state), 7):
        damaged = state[:place] + bytes([state[place] ^ 1]) + state[place + 1 :]
        with pytest.raises(SnapshotError):
            advance(recipe, SECRET, "a", damaged, [21], [1], [0])
    for size in (0, 3, 100, len(state) - 1):
        with pytest.raises(SnapshotError):
            advance(recipe, SECRET, "a", state[:size], [21], [1], [0])


def test_a_state_belongs_to_its_key_secret_and_recipe() -> None:
    state, _ = fed(5)
    other = PrivateMajority(concepts=Thresholds(1024), rounds=999, epsilon=1.0)
    with pytest.raises(SnapshotError, match="another recipe"):
        advance(other, SECRET, "a", state, [6], [1], [0])
    for secret, key in ((SECRET, "b"), (bytes(32), "a")):
        with pytest.raises(SnapshotError, match="seal"):
            advance(MAJORITY, secret, key, state, [6], [1], [0])
    with pytest.raises(ValueError, match="32 bytes"):
        advance(MAJORITY, b"short", "a", None, [], [], [])


def test_neither_the_secret_nor_a_noise_key_is_in_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[bytes] = []
    stretch = Keyed._stretch

    def watched(self: Keyed, label: bytes, count: int) -> bytes:
        used.append(self._key)
        return stretch(self, label, count)

    monkeypatch.setattr(Keyed, "_stretch", watched)
    state, _ = fed(50)
    assert used and not any(key in state or key.hex().encode() in state for key in [*used, SECRET])


def test_keys_that_look_alike_have_noise_of_their_own() -> None:
    alike = ["1", 1, b"1", ("1",), (1,), "1 ", "é", "e\u0301", None, "None"]
    assert len({key_name(key).label for key in alike}) == len(alike)
    states = {fed(3, recipe=FOREST, key=key)[0] for key in alike}
    assert len(states) == len(alike)
    assert key_name(1) == key_name(True) == key_name(1.0)
    assert fed(3, key=1)[0] == fed(3, key=True)[0]


def test_other_recipes_have_other_noise() -> None:
    """One secret may serve two fleets: what they draw has nothing in common."""
    shorter = PrivateMajority(concepts=Thresholds(1024), rounds=999, epsilon=1.0)
    drawn = []
    for recipe in (MAJORITY, shorter):
        state, _ = fed(2, recipe=recipe)
        drawn.append(
            KeyedRun.at(recipe, SECRET, key_name("a"), state).engine.ledger.private and state[-60:]
        )
    assert drawn[0] != drawn[1]


def test_releases_are_chained_from_the_first_on() -> None:
    xs, ys = [700] * 300, [0] * 300
    state, releases = advance(MAJORITY, SECRET, "shop", None, range(1, 301), xs, ys)
    assert len(releases) > 1 and releases[0].round == 0
    check_chain(releases, of="this test")
    assert {json.loads(release.body)["run"] for release in releases} == {"shop"}
    assert releases[-1].chain in state


def test_keys_that_differ_publish_under_names_that_differ() -> None:
    keys = ["1", 1, "#1", '#"#1"', None, "None", "#null", (1,), ("1",), "(1,)", b"1", 1.5, "1.5"]
    names = [key_name(key) for key in keys]
    assert len({name.text for name in names}) == len({name.label for name in names}) == len(keys)
    assert key_name(1) == key_name(1.0) == key_name(True)
    assert key_name("Haifa").text == "Haifa" and key_name("1").text == "1"  # as they always were
    for key in ("1", 1):
        _, [release] = fed(1, key=key)
        assert json.loads(release.body)["run"] == key_name(key).text


def test_the_digest_of_what_was_consumed_tells_streams_apart() -> None:
    """Two streams with the same counts and releases: only the order of two points differs."""
    one, _ = advance(MAJORITY, SECRET, "a", None, [1, 2], [5, 6], [0, 0])
    two, _ = advance(MAJORITY, SECRET, "a", None, [1, 2], [6, 5], [0, 0])
    assert one != two and len(one) == len(two)
    assert rounds_of(one) == rounds_of(two) == 2


def test_an_unread_ledger_is_the_ledger() -> None:
    state, _ = advance(MAJORITY, SECRET, "a", None, range(1, 301), [700] * 300, [0] * 300)
    ledger = KeyedRun.at(MAJORITY, SECRET, key_name("a"), state).engine.ledger
    assert ledger.is_unloaded
    assert len(ledger.charges) > 1 and ledger.spent().epsilon <= 1.0
    assert not ledger.is_unloaded
    with pytest.raises(AttributeError):
        _ = ledger.nothing_of_the_kind


def test_a_forest_is_read_for_mistakes_only_and_its_bytes_stay_the_same() -> None:
    begun, _ = fed(30, recipe=FOREST)
    run = KeyedRun.at(FOREST, SECRET, key_name("a"), begun)
    run.take([(1, 0)])
    assert run.engine._forest.is_unloaded  # type: ignore[attr-defined]
    run.take([(1, 1)])
    assert not run.engine._forest.is_unloaded  # type: ignore[attr-defined]
    whole = KeyedRun.at(FOREST, SECRET, key_name("a"), begun)
    assert whole.engine._forest._split is not None  # type: ignore[attr-defined]
    whole.take([(1, 0), (1, 1)])
    halves, _ = advance(FOREST, SECRET, "a", begun, [31], [1], [0])
    assert run.state() == whole.state() == advance(FOREST, SECRET, "a", halves, [32], [1], [1])[0]


def test_states_are_small() -> None:
    assert len(fed(300)[0]) <= 2_100
    assert len(fed(300, recipe=FOREST)[0]) <= 1_300
