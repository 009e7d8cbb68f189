"""The loop itself: who knows what when, what is refused, and what is counted."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.errors import NotRealizableError
from littlestone.game import play as game_loop
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.adversaries.random_stream import Drifting, RandomStream
from littlestone.game.adversaries.replay import Examples, Replay
from littlestone.game.play import play
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness, secure, seeded

CONCEPTS = Thresholds(8)
SOA = StandardOptimal(CONCEPTS)


@dataclass
class Climbing:
    """A learner that publishes x >= 0, x >= 1, ... whatever it sees, and keeps a diary."""

    concepts: Thresholds = CONCEPTS
    rounds: int | None = None
    oblivious_only: bool = False
    diary: list[tuple[Any, int]] = field(default_factory=list)

    def start(self, *, rng: Randomness) -> "Climbing":
        self.rng = rng
        return self

    @property
    def hypothesis(self) -> ThresholdHypothesis:
        return ThresholdHypothesis(8, len(self.diary) % 9)

    def observe(self, x: Any, y: int, /) -> None:
        self.diary.append((x, y))


@dataclass
class Listening:
    """An adversary that writes down what it is shown, and plays (7, 1) all the time."""

    concepts: Thresholds = CONCEPTS
    adaptive: bool = True
    realizable: bool = True
    shown: list[Any] = field(default_factory=list)

    def start(self, *, rng: Randomness) -> "Listening":
        self.rng = rng
        return self

    def choose(self, seen: Any, /) -> tuple[Any, Any]:
        self.shown.append(seen)
        return 7, 1


def test_the_adversary_knows_the_hypotheses_of_earlier_rounds_only() -> None:
    adversary = Listening()
    play(Climbing(), adversary, rounds=4, rng=seeded(1))
    assert [h if h is None else h.k for h in adversary.shown] == [None, 0, 1, 2]


def test_peeking_shows_the_hypothesis_of_this_round() -> None:
    adversary = Listening()
    play(Climbing(), adversary, rounds=4, rng=seeded(1), peek=True)
    assert [h.k for h in adversary.shown] == [0, 1, 2, 3]


def test_each_side_gets_its_own_randomness() -> None:
    learner, adversary = Climbing(), Listening()
    play(learner, adversary, rounds=1, rng=seeded(1))
    assert learner.rng is not adversary.rng
    assert learner.rng.bits(128) != adversary.rng.bits(128)


def test_a_mistake_is_judged_by_the_hypothesis_published_before_the_example() -> None:
    transcript = play(Climbing(), Listening(), rounds=9, rng=seeded(1), record=9)
    # x >= k errs on (7, 1) for k = 8 only, which is published in round 9.
    assert [entry.mistake for entry in transcript.record] == [False] * 8 + [True]
    assert transcript.mistakes == transcript.regret == 1
    assert transcript.switches == 9


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("bad", [8, -1, 2.5, "3", None, float("nan"), [1]])
def test_a_bad_point_is_refused_before_the_learner_sees_it(bad: Any, blocks: bool) -> None:
    check_refusal((bad, 1), blocks=blocks)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("bad", [2, -1, 0.5, "1", None, float("nan")])
def test_a_bad_label_is_refused_before_the_learner_sees_it(bad: Any, blocks: bool) -> None:
    check_refusal((3, bad), blocks=blocks)


@dataclass
class Scripted:
    """Plays a list of anything, in blocks if asked."""

    script: list[tuple[Any, Any]]
    concepts: Thresholds = CONCEPTS
    adaptive: bool = False
    realizable: bool = True
    at: int = 0

    def start(self, *, rng: Randomness) -> "Scripted":
        self.at = 0
        return self

    def choose(self, seen: Any, /) -> Any:
        self.at += 1
        return self.script[self.at - 1]

    def plan(self, seen: Any, most: int, /) -> tuple[list[Any], list[Any]]:
        part = self.script[self.at : self.at + most]
        return [x for x, _ in part], [y for _, y in part]

    def played(self, count: int, /) -> None:
        self.at += count


@contextmanager
def in_one_piece() -> Iterator[None]:
    """Blocks end where the curve has a point; it has only the last one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(game_loop, "checkpoints", lambda rounds: [rounds])
        yield


@dataclass
class Diary:
    """A learner that takes blocks and writes down everything."""

    concepts: Thresholds = CONCEPTS
    rounds: int | None = None
    oblivious_only: bool = False
    taken: list[tuple[int, int]] = field(default_factory=list)
    longest: int = 1

    def start(self, *, rng: Randomness) -> "Diary":
        return self

    @property
    def hypothesis(self) -> ThresholdHypothesis:
        return ThresholdHypothesis(8, 3)

    def observe(self, x: int, y: int, /) -> None:
        self.taken.append((x, y))

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        self.taken += list(zip(xs.tolist(), ys.tolist(), strict=True))
        self.longest = max(self.longest, len(ys))
        return len(ys)


def check_refusal(bad: tuple[Any, Any], *, blocks: bool) -> None:
    learner = Diary()
    good = [(3, 1)] * 5
    with pytest.raises(ValueError, match="round 6: "), in_one_piece():
        play(learner, Scripted([*good, bad, *good]), rounds=11, rng=seeded(1), blocks=blocks)
    assert learner.taken == good
    assert learner.longest == (4 if blocks else 1)  # before the first nothing was seen


def test_points_and_labels_reach_the_learner_in_canonical_form() -> None:
    for blocks in (True, False):
        learner = Diary()
        script = [(np.int8(3), np.True_), (3, True), (3, 1.0), (3, 1)]
        with in_one_piece():
            play(learner, Scripted(script), rounds=4, rng=seeded(1), blocks=blocks)
        assert learner.taken == [(3, 1)] * 4 and learner.longest == (3 if blocks else 1)
        assert all(type(x) is int and type(y) is int for x, y in learner.taken)


@pytest.mark.parametrize("blocks", [True, False])
def test_an_adversary_that_contradicts_itself_is_caught_in_that_round(blocks: bool) -> None:
    stream = [(3, 1), (5, 1)] * 100 + [(4, 0)] + [(3, 1)] * 100
    with pytest.raises(NotRealizableError, match="round 201") as caught:
        play(SOA, Scripted(stream), rounds=301, rng=seeded(1), blocks=blocks)
    assert caught.value.round_number == 201


@pytest.mark.parametrize("blocks", [True, False])
def test_a_contradiction_among_keys_is_caught_too(blocks: bool) -> None:
    concepts = Points()
    stream = [("a", 1), ("b", 0)] * 200 + [("b", 1)] + [("a", 1)] * 100
    adversary = Replay(concepts, stream, realizable=True)
    with pytest.raises(NotRealizableError, match="round 401"):
        play(StandardOptimal(concepts), adversary, rounds=501, rng=seeded(1), blocks=blocks)


@pytest.mark.parametrize("blocks", [True, False])
def test_an_adversary_that_promised_nothing_may_contradict_itself(blocks: bool) -> None:
    stream = [(3, 1), (4, 0)] * 50
    adversary = Scripted(stream, realizable=False)
    assert play(SOA, adversary, rounds=100, rng=seeded(1), blocks=blocks).fewest_mistakes == 50


@pytest.mark.parametrize("blocks", [True, False])
def test_regret_is_against_the_best_concept_in_hindsight(blocks: bool, rng: Randomness) -> None:
    generator = rng.generator()
    concepts = FiniteClass(generator.integers(2, size=(6, 5)))
    xs, ys = generator.integers(5, size=400), generator.integers(2, size=400)
    adversary = Replay(concepts, Examples(xs, ys))
    learner = StandardOptimal(concepts)
    recorded = play(learner, adversary, rounds=400, rng=rng, record=400)
    with in_one_piece():
        transcript = play(learner, adversary, rounds=400, rng=rng, blocks=blocks)
    best = min(int((h.many(xs) != ys).sum()) for h in concepts.concepts())
    wrong = sum(entry.hypothesis(entry.x) != entry.y for entry in recorded.record)
    assert transcript.fewest_mistakes == best
    assert transcript.regret == wrong - best


def test_regret_over_keys_without_an_order_counts_each_key() -> None:
    concepts = Points()
    stream = [("a", 1), ("b", 1), ("b", 1), ("a", 0)] * 40
    for blocks in (True, False):
        transcript = play(
            StandardOptimal(concepts),
            Replay(concepts, stream),
            rounds=160,
            rng=seeded(1),
            blocks=blocks,
        )
        assert transcript.fewest_mistakes == 40  # "b" alone


def test_an_oblivious_only_learner_is_not_thrown_to_an_adaptive_adversary() -> None:
    learner = Climbing(oblivious_only=True)
    with pytest.raises(ValueError, match="Climbing promises accuracy against oblivious"):
        play(learner, Listening(), rounds=1, rng=seeded(1))
    assert not learner.diary
    play(learner, RandomStream(CONCEPTS), rounds=1, rng=seeded(1))
    play(learner, Listening(), rounds=1, rng=seeded(1), even_if_oblivious_only=True)


def test_a_learner_that_declares_nothing_is_refused_by_name() -> None:
    class Silent:
        concepts = CONCEPTS

        def start(self, *, rng: Randomness) -> Climbing:
            raise AssertionError("it must not start")

    with pytest.raises(ValueError, match=r"learner must be .*, which lacks oblivious_only, rounds"):
        play(Silent(), Listening(), rounds=1, rng=seeded(1))  # type: ignore[arg-type]


def test_both_sides_must_play_over_the_same_class() -> None:
    with pytest.raises(ValueError, match="same class"):
        play(SOA, MistakeForcing(Thresholds(9)), rounds=1, rng=seeded(1))


def test_a_horizon_that_is_too_short_is_refused_before_the_first_round() -> None:
    learner = Climbing(rounds=10)
    with pytest.raises(ValueError, match="at most the learner's 10, got rounds=11"):
        play(learner, Listening(), rounds=11, rng=seeded(1))
    assert not learner.diary


@pytest.mark.parametrize("rounds", [0, -1, 2.0, True])
def test_rounds_must_be_a_positive_whole_number(rounds: Any) -> None:
    with pytest.raises(ValueError, match="rounds"):
        play(SOA, MistakeForcing(CONCEPTS), rounds=rounds, rng=seeded(1))


def test_the_record_holds_the_first_rounds_and_nothing_else_changes() -> None:
    plain = play(SOA, RandomStream(CONCEPTS), rounds=300, rng=seeded(5))
    recorded = play(SOA, RandomStream(CONCEPTS), rounds=300, rng=seeded(5), record=40)
    assert [entry.number for entry in recorded.record] == list(range(1, 41))
    assert recorded.curve == plain.curve
    assert recorded.mistakes == plain.mistakes


def test_progress_reaches_the_end() -> None:
    heard: list[int] = []
    play(SOA, RandomStream(CONCEPTS), rounds=5000, rng=seeded(5), progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 5000
    assert len(heard) < 300


def test_the_curve_has_few_points_and_ends_with_the_total() -> None:
    transcript = play(SOA, RandomStream(CONCEPTS), rounds=100_000, rng=seeded(5))
    rounds, mistakes = zip(*transcript.curve, strict=True)
    assert len(rounds) <= 256
    assert list(rounds) == sorted(set(rounds))
    assert list(mistakes) == sorted(mistakes)
    assert transcript.curve[-1] == (100_000, transcript.mistakes)


def test_the_regret_is_followed_where_the_best_is_known_all_along() -> None:
    held = play(SOA, RandomStream(CONCEPTS), rounds=300, rng=seeded(5))
    assert held.regret_curve == held.curve
    drifting = play(SOA, Drifting(CONCEPTS, period=3), rounds=300, rng=seeded(5))
    assert drifting.regret_curve == ()
    assert drifting.known_regret == drifting.regret


def test_an_unknown_regret_is_refused_and_not_taken_for_zero() -> None:
    unknown = replace(
        play(SOA, RandomStream(CONCEPTS), rounds=3, rng=seeded(5)), fewest_mistakes=None
    )
    assert unknown.regret is None
    with pytest.raises(ValueError, match="is not known"):
        _ = unknown.known_regret


def test_a_transcript_survives_json_and_says_whether_it_was_seeded() -> None:
    transcript = play(SOA, MistakeForcing(CONCEPTS), rounds=20, rng=seeded(5), record=3)
    assert json.loads(json.dumps(transcript.to_json()))["mistakes"] == 3
    assert not transcript.private
    assert play(SOA, MistakeForcing(CONCEPTS), rounds=1, rng=secure()).private
    assert "seconds" not in transcript.text()


def peak_memory(rounds: int) -> int:
    concepts = Thresholds(64)
    tracemalloc.start()
    try:
        play(
            StandardOptimal(concepts),
            Drifting(concepts, period=10_000),
            rounds=rounds,
            rng=seeded(1),
        )
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_rounds() -> None:
    peak_memory(1000)  # fill the caches
    few, many = peak_memory(20_000), peak_memory(400_000)
    assert many <= few + 200_000
