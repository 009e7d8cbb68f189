"""Randomness: exact laws from uniform words, replay from seeds, and no bit handed out twice."""

import copy
import json
import multiprocessing
import os
import pickle
import threading
from collections import Counter
from collections.abc import Iterable
from itertools import islice, permutations, repeat

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.randomness import Randomness, Source, keyed, secure, seeded


class Scripted:
    """A source that says what it is told to."""

    private = False

    def __init__(self, script: list[int]) -> None:
        self.script = script

    def words(self, count: int) -> NDArray[np.uint64]:
        # Reading ahead pads with zeros, so that a script may be short.
        taken, self.script = self.script[:count], self.script[count:]
        return np.array(taken + [0] * (count - len(taken)), dtype=np.uint64)

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


def _largest_deviation(orders: Iterable[NDArray[np.int64]]) -> float:
    """How far the counts of the 24 orders are from 500, in units of sqrt(500)."""
    counts = Counter(tuple(order.tolist()) for order in islice(orders, 12_000))
    return max(abs(counts[order] - 500) for order in permutations(range(4))) / 500**0.5


@pytest.mark.statistical
def test_every_permutation_is_equally_likely(rng: Randomness) -> None:
    # Each of 24 counts leaves 500 ± 8 * sqrt(500) with probability below 1e-12 (Bennett).
    assert _largest_deviation(rng.permutation(4) for _ in repeat(None)) < 8


@pytest.mark.statistical
def test_an_order_that_keeps_ties_is_noticed(rng: Randomness) -> None:
    coarse = (np.argsort(rng.words(4) >> np.uint64(61), kind="stable") for _ in repeat(None))
    assert _largest_deviation(coarse) > 8


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


def test_a_secure_state_holds_no_bits() -> None:
    rng = secure()
    rng.word()
    assert rng.state() == {"source": "secure", "unused": []}
    assert Randomness.from_state(rng.state()).private


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_randomness_cannot_be_duplicated(duplicate: object) -> None:
    with pytest.raises(TypeError, match="reuse the same noise"):
        duplicate(secure())  # type: ignore[operator]


def _send_word(rng: Randomness, pipe: int) -> None:
    os.write(pipe, rng.word().to_bytes(8, "big"))


def test_a_forked_process_does_not_repeat_its_parents_secure_bits() -> None:
    rng = secure()
    rng.word()  # the buffer is full now
    read, write = os.pipe()
    child = multiprocessing.get_context("fork").Process(target=_send_word, args=(rng, write))
    child.start()
    child.join()
    assert int.from_bytes(os.read(read, 8), "big") != rng.word()


def test_threads_are_never_given_the_same_word() -> None:
    rng = secure()
    drawn: list[int] = []
    threads = [
        threading.Thread(target=lambda: drawn.extend([rng.word() for _ in range(20_000)]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == len(drawn) == 80_000


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_seed_is_a_whole_number(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        seeded(seed)


def test_the_repr_says_what_is_not_private() -> None:
    assert repr(secure()) == "secure()"
    assert "not private" in repr(seeded(1))


def test_a_key_replays_the_same_words_and_children() -> None:
    key = bytes(range(32))
    one, two = keyed(key), keyed(key)
    assert one.private
    assert [one.word() for _ in range(100)] == [two.word() for _ in range(100)]
    assert one.below_many(10, 50).tolist() == two.below_many(10, 50).tolist()
    assert [c.word() for c in one.spawn(2)] == [c.word() for c in two.spawn(2)]
    assert one.word() != keyed(bytes(32)).word()


def test_a_keyed_source_continues_from_its_state() -> None:
    rng = keyed(bytes(32))
    rng.word()
    rng.words(7)
    rng.spawn(1)
    again = Randomness.from_state(json.loads(json.dumps(rng.state())))
    assert [again.word() for _ in range(9000)] == [rng.word() for _ in range(9000)]
    assert again.spawn(1)[0].word() == rng.spawn(1)[0].word()


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="key must have 32 bytes"):
        keyed(b"short")


def test_a_forked_child_cannot_draw_from_the_parents_key() -> None:
    rng = keyed(bytes(32))
    rng.word()
    child = os.fork()
    if child == 0:
        try:
            rng.word()
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
