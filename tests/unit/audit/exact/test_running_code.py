"""IncrementalSelection and LinearPool as they run: proposals, rejections, raw words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.exact.laws import BLIND_SPOTS, SUBSTITUTES, enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.two_worlds import Conversation, Subject
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError
from littlestone.learners.disjoint_batches.drawing import Batch, drawing_from
from littlestone.learners.disjoint_batches.linear_pool import LinearRules
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.incremental_selection import (
    IncrementalSelection,
    IncrementalSelectionRun,
)
from littlestone.randomness import Randomness

EPSILON = 1.0
SELECTION = IncrementalSelection(mechanism=ExponentialMechanism(epsilon=EPSILON), refresh=100)
PROMISED = PrivacyGuarantee(epsilon=EPSILON)


class Scores:
    """Grow when they are told to."""

    def __init__(self, start: list[int]) -> None:
        self.now = np.array(start, dtype=np.int64)

    def as_array(self) -> NDArray[np.int64]:
        return self.now.copy()

    def of(self, element: int, /) -> int:
        return int(self.now[element])


Draw = Callable[[IncrementalSelectionRun], int]


def two_draws(draw: Draw = IncrementalSelectionRun.draw, start: list[int] | None = None) -> Subject:
    """Draws once, lets the scores grow by what it is sent, and draws by the weights laid out."""

    def opened(rng: Randomness) -> tuple[int, Conversation]:
        scores = Scores(start or [0, 1, 1])
        run = SELECTION.start(scores, rng=rng)
        first = draw(run)

        def answer(growth: list[int]) -> int:
            scores.now += growth
            run.passed(1)
            return draw(run)

        return first, answer

    return Subject(name="two draws", claimed=PROMISED, open=opened)


def curve_of(subject: Subject, zero: Any, one: Any, bits: int = 24) -> PrivacyCurve:
    question = OneQuestion(zero=zero, one=one)
    return privacy_curve(
        subject, question, rounds=1, negligible=Fraction(1, 1 << bits), proposals=True
    )


def exceeds(curve: PrivacyCurve, epsilon: float = EPSILON) -> float:
    return float(curve.delta_bounds(epsilon)[0])


@pytest.mark.parametrize(
    ("zero", "one"), [([1, 0, 0], [0, 0, 0]), ([0, 0, 1], [1, 0, 0]), ([2, 0, 0], [0, 2, 0])]
)
def test_proposals_and_rejections_cost_what_is_promised(zero: list[int], one: list[int]) -> None:
    # Half of epsilon for each step of a score, since the others may move the other way.
    steps = max(max(zero), max(one)) * (1 if 0 in (sum(zero), sum(one)) else 2)
    curve = curve_of(two_draws(), zero, one)
    assert curve.missing < 1e-4
    assert exceeds(curve, steps * EPSILON / 2) == 0
    assert curve.epsilon_lower_bound(1e-3) > 0.5 * steps * EPSILON / 2


def test_the_law_is_the_one_that_stands_in_for_it_elsewhere() -> None:
    def play(tape: Tape) -> tuple[int, int]:
        scores = Scores([0, 1, 2])
        run = SELECTION.start(scores, rng=tape)
        first = run.draw()
        scores.now += [1, 0, 0]
        run.passed(1)
        return first, run.draw()

    def law(*, proposals: bool) -> Law:
        with enumerable(proposals=proposals):
            return law_of(play, rounds=2, negligible=UNIT >> 60, most=100_000)

    short, running = law(proposals=False), law(proposals=True)
    assert short.views.keys() == running.views.keys() and short.runs < running.runs
    assert running.missing < UNIT >> 50
    for view, mass in short.views.items():
        assert abs(mass.low - running.views[view].low) <= running.missing


def gives_up(run: IncrementalSelectionRun) -> int:
    """Broken: after three proposals the best element is taken, to save time."""
    if run._base is None:
        return run.draw()
    for _ in range(3):
        element = run._propose()
        before, now = int(run._base[element]), run._scores.of(element)
        table = run._table
        old, new = (table.weights[table.level(score - run._least)] for score in (before, now))
        if run._rng.below(old) < new:
            return element
    return int(run._scores.as_array().argmin())


def test_rejections_that_are_cut_short_are_noticed() -> None:
    curve = curve_of(two_draws(gives_up, [0, 0, 0]), [6, 5, 6], [5, 6, 6], bits=18)
    assert exceeds(curve) > 0.1


NUMBER = DecisionTrees(Schema.from_mapping({"a": {"grid": [0]}}), 1)
BOTH = DecisionTrees(Schema.from_mapping({"a": {"grid": [0]}, "b": {"values": ["x", "y"]}}), 1)
LAST = {
    NUMBER: Scorecard(NUMBER.schema, 2500, ((5000,),)),
    BOTH: Scorecard(BOTH.schema, 2500, ((5000,), (-3000, 1000))),
}
WORDS = (0x0123_4567_89AB_CDEF, 0xF8E9_10C3_B4A5_0F87, 0x5A00_FF3C_7E81_9D42)
# One record of two is replaced: its label changes, it moves, or both.
PAIRS: list[tuple[Any, Any]] = [
    ({(0, 0): (0, 1), (1, 1): (1, 0)}, {(0, 0): (0, 1), (1, 1): (0, 1)}),
    ({(0, 0): (0, 1), (1, 1): (1, 0)}, {(0, 0): (0, 1), (1, 0): (1, 0)}),
    ({(0, 0): (0, 1), (1, 1): (1, 0)}, {(0, 0): (0, 1), (0, 1): (0, 1)}),
]


def answers(drawn: Any, near: Hypothesis) -> Subject:
    """Takes a batch, answers with the rule that is drawn."""

    def opened(rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda batch: drawn.draw(batch, rounds=2, near=near, rng=rng)

    return Subject(name="a pool", claimed=PROMISED, open=opened)


def pool_curve(subject: Subject, pair: tuple[Any, Any], words: Sequence[int]) -> PrivacyCurve:
    question = OneQuestion(zero=pair[0], one=pair[1])
    return privacy_curve(subject, question, rounds=1, negligible=Fraction(1, 1 << 30), words=words)


def numbers_only(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    zero, one = ({cells[:1]: labels for cells, labels in batch.items()} for batch in pair)
    return zero, one


def test_a_pool_of_all_words_costs_what_is_promised() -> None:
    """Three words are read, for one direction: all 27 pools."""
    subject = answers(drawing_from(NUMBER, epsilon=EPSILON, directions=1), LAST[NUMBER])
    curve = pool_curve(subject, numbers_only(PAIRS[0]), WORDS)
    assert exceeds(curve) == 0 and curve.delta_bounds(EPSILON)[1] < 1e-9
    assert curve.epsilon_lower_bound(1e-4) > 0.5


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("word", WORDS, ids=hex)
def test_each_pool_costs_what_is_promised(word: int, alike: bool) -> None:
    """One direction anywhere, one near the last rule, and one that counts alike or anywhere."""
    drawn = drawing_from(BOTH, epsilon=EPSILON, directions=3, alike=alike)
    subject = answers(drawn, LAST[BOTH])
    for pair in PAIRS:
        curve = pool_curve(subject, pair, [word])
        assert exceeds(curve) == 0 and curve.delta_bounds(EPSILON)[1] < 1e-9
        assert curve.epsilon_lower_bound(1e-4) > 0.3


def test_a_learner_that_draws_from_a_pool_costs_what_is_promised() -> None:
    learner = DisjointBatches(concepts=BOTH, epsilon=EPSILON, first=1, directions=3, alike=True)
    curve = pool_curve(Subject.from_learner(learner), (((0, 0), 1), ((1, 1), 0)), WORDS[:1])
    assert exceeds(curve) == 0 and curve.delta_bounds(EPSILON)[1] < 1e-9
    assert curve.epsilon_lower_bound(1e-4) > 0.3


def test_errors_that_count_twice_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    once = LinearRules.errors
    monkeypatch.setattr(LinearRules, "errors", lambda rules, sample: 2 * once(rules, sample))
    subject = answers(drawing_from(NUMBER, epsilon=EPSILON, directions=1), LAST[NUMBER])
    curve = pool_curve(subject, numbers_only(PAIRS[0]), WORDS[:2])
    assert exceeds(curve) > 1e-4


@dataclass(frozen=True)
class Aimed:
    """Broken: directions are drawn near a rule that the batch decides."""

    pool: Any

    def draw(self, batch: Batch, *, rounds: int, near: Hypothesis, rng: Randomness) -> Hypothesis:
        del near
        ones = sum(labels[1] for labels in batch.values())
        aim = Scorecard(BOTH.schema, 0, ((1000 * ones,), (3000, 0)))
        drawn: Hypothesis = self.pool.draw(batch, rounds=rounds, near=aim, rng=rng)
        return drawn


def test_a_pool_that_depends_on_the_batch_is_noticed() -> None:
    drawn = drawing_from(BOTH, epsilon=EPSILON, directions=3)
    assert exceeds(pool_curve(answers(Aimed(drawn), LAST[BOTH]), PAIRS[0], WORDS[:1])) > 1e-3


def test_raw_words_are_refused_unless_some_are_given() -> None:
    subject = answers(drawing_from(NUMBER, epsilon=EPSILON, directions=1), LAST[NUMBER])
    with pytest.raises(LittlestoneError, match="pass words"):
        pool_curve(subject, numbers_only(PAIRS[0]), ())


def test_the_table_of_substitutes_names_each_once() -> None:
    names = [substitute.name for substitute in SUBSTITUTES]
    assert len(set(names)) == len(names)
    assert {"IncrementalSelectionRun", "FreshDraws", "WaitingTime"} <= set(names)
    assert not set(names) & BLIND_SPOTS.keys()
