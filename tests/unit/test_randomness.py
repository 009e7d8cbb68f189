"""Randomness: exact laws from uniform words, replay from seeds, and no bit handed out twice."""

import copy
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.chance import fits, is_told_apart
from tests.threads import together

from littlestone.errors import RetiredError
from littlestone.randomness import Randomness, keyed, secure, seeded
from littlestone.randomness.word_sources import Ahead, Keyed, Source, derived_key


class Scripted:
    """A source that says what it is told to."""

    private = False

    def __init__(self, script: list[int]) -> None:
        self.script = script

    def words(self, count: int) -> NDArray[np.uint64]:
        # Reading ahead pads with zeros, so that a script may be short.
        taken, self.script = self.script[:count], self.script[count:]
        return np.array(taken + [0] * (count - len(taken)), dtype=np.uint64)

    def ahead(self) -> Ahead:
        return Ahead.of(self.words(8))

    def spawn(self, count: int) -> list[Source]:
        raise NotImplementedError

    def state(self) -> dict[str, object]:
        return {"source": "scripted"}


def test_bits_are_the_leading_bits_of_the_words() -> None:
    rng = Randomness(Scripted([0b101 << 61, 1 << 63, 3]))
    assert rng.bits(3) == 0b101
    assert rng.bits(128) == (1 << 127) | 3


def test_below_rejects_what_would_bias_it() -> None:
    # The candidates are the two leading bits: 3 is rejected, then 2 is accepted.
    rng = Randomness(Scripted([3 << 62, 2 << 62]))
    assert rng.below(3) == 2


def test_below_many_rejects_what_would_bias_it() -> None:
    rng = Randomness(Scripted([3 << 62, 2 << 62, 3 << 62, 1 << 62, 0]))
    assert rng.below_many(3, 3).tolist() == [2, 1, 0]


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 1 << 62])
def test_below_many_stays_below(bound: int, rng: Randomness) -> None:
    values = rng.below_many(bound, 1000)
    assert values.dtype == np.int64
    assert values.min() >= 0
    assert values.max() < bound


@pytest.mark.parametrize("bound", [0, -1, 1.5, (1 << 62) + 1])
def test_below_many_refuses_bad_bounds(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        seeded(0).below_many(bound, 1)


ORDERS = {order: number for number, order in enumerate(permutations(range(4)))}
UNIFORM = dict.fromkeys(ORDERS.values(), 1 / 24)


def _ordered(keys: Iterable[int]) -> int:
    """The number of the order in which a stable sort puts four keys."""
    return ORDERS[tuple(sorted(range(4), key=list(keys).__getitem__))]


@pytest.mark.statistical
def test_every_permutation_is_equally_likely(rng: Randomness) -> None:
    assert fits((ORDERS[tuple(rng.permutation(4).tolist())] for _ in range(12_000)), UNIFORM)


@pytest.mark.statistical
def test_an_order_that_keeps_ties_is_noticed(rng: Randomness) -> None:
    coarse = [_ordered((rng.words(4) >> np.uint64(61)).tolist()) for _ in range(12_000)]
    counts = Counter(_ordered(keys) for keys in product(range(8), repeat=4))
    actual = {number: count / 8**4 for number, count in counts.items()}
    assert is_told_apart(coarse, UNIFORM, actual=actual)


def test_a_seed_decides_everything() -> None:
    first, second = seeded(7), seeded(7)
    assert first.bits(300) == second.bits(300)
    assert first.spawn(2)[1].bits(64) == second.spawn(2)[1].bits(64)
    assert first.words(5).tolist() == second.words(5).tolist()


def test_children_differ_from_each_other_and_from_their_parent() -> None:
    parent = seeded(7)
    streams = [parent, *parent.spawn(3), *parent.spawn(3)]
    assert len({stream.bits(64) for stream in streams}) == 7


def test_a_seeded_state_continues_where_it_was_taken() -> None:
    rng = seeded(7)
    rng.word()
    restored = Randomness.from_state(json.loads(json.dumps(rng.state())))
    assert [restored.word() for _ in range(10_000)] == [rng.word() for _ in range(10_000)]
    assert restored.spawn(1)[0].word() == rng.spawn(1)[0].word()


@pytest.mark.parametrize("start", [seeded, lambda n: Randomness(Keyed(bytes([n] * 32)))])
@given(steps=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 20)), max_size=6))
def test_a_state_is_a_place_in_the_stream(
    start: Callable[[int], Randomness], steps: list[tuple[int, int]]
) -> None:
    """However single words and blocks take turns, and also when it was itself restored."""
    rng, again = start(7), start(7)
    for singles, block in steps:
        again = Randomness.from_state(json.loads(json.dumps(again.state())))
        assert again.state() == rng.state()
        for _ in range(singles):
            assert again.word() == rng.word()
        assert again.words(block).tolist() == rng.words(block).tolist()
    assert len(json.dumps(rng.state())) < 250


def test_single_words_of_a_seed_have_a_stretch_of_their_own() -> None:
    """As they always had: transcripts of experiments do not change."""
    rng, plain = seeded(7), np.random.PCG64DXSM(np.random.SeedSequence(7)).random_raw(20_000)
    assert rng.word() == plain[0]
    assert rng.words(3).tolist() == plain[8192:8195].tolist()
    assert [rng.word() for _ in range(8192)] == [*plain[1:8192], plain[8195]]


@pytest.mark.parametrize(
    "change", [{"block": 0}, {"unread": [0, 129]}, {"unread": [0, -1]}, {"children": "1"}]
)
def test_places_that_no_stream_has_are_refused(change: dict[str, object]) -> None:
    rng = Randomness(Keyed(bytes(32)))
    rng.word()
    with pytest.raises(ValueError, match=r"position|inconsistent"):
        Randomness.from_state({**rng.state(), **change})
    with pytest.raises(ValueError, match="has no"):
        Randomness.from_state({**seeded(1).state(), "single": [3, 2]})


def test_a_secure_state_holds_no_bits() -> None:
    rng = secure()
    rng.word()
    assert rng.state() == {"source": "secure"}
    assert Randomness.from_state(rng.state()).private


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_randomness_cannot_be_duplicated(duplicate: object) -> None:
    with pytest.raises(TypeError, match="reuse the same noise"):
        duplicate(secure())  # type: ignore[operator]


@pytest.mark.parametrize("start", [secure, lambda: seeded(1), lambda: Randomness(Keyed(bytes(32)))])
def test_threads_are_never_given_the_same_word(start: Callable[[], Randomness]) -> None:
    _refuse_repeated_words(start(), lambda rng: [rng.word() for _ in range(20_000)])


def test_threads_are_never_given_the_same_block_of_a_key() -> None:
    # Many small blocks: reading the counter and moving it on must be one step.
    rng = keyed(bytes(32), label="threads")
    _refuse_repeated_words(rng, lambda rng: [int(rng.words(1)[0]) for _ in range(20_000)])


def _refuse_repeated_words(rng: Randomness, draw: Callable[[Randomness], list[int]]) -> None:
    drawn: list[int] = []
    together(lambda: drawn.extend(draw(rng)))
    assert len(set(drawn)) == len(drawn) == 80_000


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        seeded(seed)


def test_the_repr_says_what_is_not_private() -> None:
    assert repr(secure()) == "secure()"
    assert "not private" in repr(seeded(1))
    assert repr(keyed(bytes(32), label="repr")) == "keyed(…)"


def test_a_key_replays_the_same_words_and_children() -> None:
    key, label = bytes(range(32)), "replays"

    def drawn(rng: Randomness) -> list[object]:
        return [
            [rng.word() for _ in range(100)],
            rng.below_many(10, 50).tolist(),
            [child.word() for child in rng.spawn(2)],
        ]

    first = keyed(key, label=label)
    assert first.private
    words = drawn(first)
    assert words == drawn(keyed(key, label=label, replay=True))
    assert words != drawn(keyed(bytes(32), label=label))
    assert words != drawn(keyed(key, label="another label"))


def test_a_second_run_from_one_key_is_refused() -> None:
    key = bytes(range(1, 33))
    keyed(key, label="once")
    with pytest.raises(ValueError, match="would use the same noise"):
        keyed(key, label="once")
    keyed(key, label="twice")


def test_a_replay_retires_what_was_started_before_and_its_children() -> None:
    key = bytes(range(2, 34))
    first = keyed(key, label="run")
    [child] = first.spawn(1)
    child.word(), first.word()
    bystander = keyed(key, label="another run")
    keyed(key, label="run", replay=True).word()
    for retired in (first, child):
        with pytest.raises(RetiredError, match="replay from the same key"):
            retired.word()
    bystander.word()


@pytest.mark.parametrize("label", ["", b"bytes", None])
def test_a_label_is_a_string(label: str) -> None:
    with pytest.raises(ValueError, match=r"label must be a .*string"):
        keyed(bytes(32), label=label)


def test_keys_are_derived_by_the_standard() -> None:
    # RFC 5869, test case 3: no salt, no info; its first block is all that is used here.
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert derived_key(b"\x0b" * 22, b"").hex() == expected


def test_a_keyed_source_continues_from_its_state() -> None:
    rng = keyed(bytes(32), label="state")
    rng.word()
    rng.words(7)
    rng.spawn(1)
    again = Randomness.from_state(json.loads(json.dumps(rng.state())))
    assert [again.word() for _ in range(9000)] == [rng.word() for _ in range(9000)]
    assert again.spawn(1)[0].word() == rng.spawn(1)[0].word()


@pytest.mark.parametrize("key", [b"short", "x" * 32, None])
def test_a_key_has_32_bytes(key: bytes) -> None:
    with pytest.raises(ValueError, match=r"key must (have 32|be) bytes"):
        keyed(key, label="short")
