"""More than two labels: the same promise by exact enumeration, and rules that correct the last."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run
from tests.unit.learners.disjoint_batches.test_disjoint_batches import Replace, mistakes

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.two_worlds import Conversation, Subject
from littlestone.choose.request import Request
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.layered_tree import (
    MOST_LAYERS,
    LayeredTree,
    with_label_before,
)
from littlestone.concepts.hypotheses.rules import Scorecards
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import LabelledSchema, Schema
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.disjoint_batches import algorithm
from littlestone.learners.disjoint_batches.asking import Corrected, last_rule_question
from littlestone.learners.disjoint_batches.drawing import Batch, drawing_from
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.disjoint_batches.score_pool import ScorePool, ScoreRules
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness, seeded

EPSILON = 1.0
PROMISED = PrivacyGuarantee(epsilon=EPSILON)
LABEL = {"values": ["ok", "late", "cancelled"]}
ONE = DecisionTrees(Schema.from_mapping({"a": {"grid": [0]}, "label": LABEL}), 1)
LAST = DecisionTree(ONE.schema, ((0, 1, 1), 2, 1))
CARDS = Scorecards(ONE.schema, (0, 2500, -2500), (((5000,),), ((0,),), ((-5000,),)))
WORDS = (0x0123_4567_89AB_CDEF, 0xF8E9_10C3_B4A5_0F87)
# One record of two is replaced: its label changes, it moves, or both.
PAIRS: list[tuple[Any, Any]] = [
    ({(0,): (0, 1, 0), (1,): (0, 0, 1)}, {(0,): (0, 1, 0), (1,): (1, 0, 0)}),
    ({(0,): (0, 1, 0), (1,): (0, 0, 1)}, {(0,): (0, 2, 0)}),
    ({(0,): (0, 1, 0), (1,): (0, 1, 0)}, {(0,): (0, 1, 1)}),
]


def curve_of(
    drawn: Any, near: Hypothesis, pair: tuple[Any, Any], words: Sequence[int] = WORDS[:1]
) -> PrivacyCurve:
    """Of one draw from a batch, all coins enumerated."""

    def opened(rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda batch: drawn.draw(batch, rounds=2, near=near, rng=rng)

    subject = Subject(name="a draw", claimed=PROMISED, open=opened)
    question = OneQuestion(zero=pair[0], one=pair[1])
    return privacy_curve(subject, question, rounds=1, negligible=Fraction(1, 1 << 30), words=words)


def exceeds(curve: PrivacyCurve) -> float:
    return float(curve.delta_bounds(EPSILON)[0])


@pytest.mark.parametrize("near", [DecisionTree(ONE.schema, 0), LAST, CARDS], ids=str)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_draw_costs_what_is_promised(near: Hypothesis, pair: tuple[Any, Any]) -> None:
    curve = curve_of(drawing_from(ONE, epsilon=EPSILON, asking=True), near, pair)
    assert exceeds(curve) == 0 and curve.delta_bounds(EPSILON)[1] < 1e-6
    assert curve.epsilon_lower_bound(1e-4) > 0.3


@pytest.mark.parametrize("word", WORDS, ids=hex)
def test_a_draw_among_linear_rules_costs_what_is_promised(word: int) -> None:
    drawn = drawing_from(ONE, epsilon=EPSILON, directions=3, asking=True)
    for pair in PAIRS[:2]:
        curve = curve_of(drawn, CARDS, pair, [word])
        assert exceeds(curve) == 0 and curve.delta_bounds(EPSILON)[1] < 1e-6
        assert curve.epsilon_lower_bound(1e-4) > 0.3


def test_linear_rules_whose_errors_count_twice_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    once = ScoreRules.errors
    monkeypatch.setattr(ScoreRules, "errors", lambda rules, sample: 2 * once(rules, sample))
    drawn = drawing_from(ONE, epsilon=EPSILON, directions=3)
    assert exceeds(curve_of(drawn, CARDS, PAIRS[1], WORDS[1:])) > 1e-3


def test_errors_that_weigh_how_far_labels_are_apart_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Broken: to say "cancelled" of what is "ok" counts four times, "late" once."""
    plain = Sample.of

    def far(tally: Any, labels: int = 2) -> Sample:
        counts = plain(tally, labels).counts
        near = np.array([[4, 3, 0], [3, 4, 3], [0, 3, 4]])
        return Sample(plain(tally, labels).cells, near @ counts, None)

    monkeypatch.setattr(Sample, "of", far)
    drawn = drawing_from(ONE, epsilon=EPSILON)
    assert exceeds(curve_of(drawn, LAST, PAIRS[0])) > 1e-3


@dataclass(frozen=True)
class Aimed:
    """Broken: what is corrected depends on the batch."""

    drawn: Any

    def draw(self, batch: Batch, *, rounds: int, near: Hypothesis, rng: Randomness) -> Hypothesis:
        del near
        counts = [sum(each) for each in zip(*batch.values(), strict=True)]
        least = DecisionTree(
            ONE.schema, ((0, 1, 1), int(np.argmax(counts)), int(np.argmin(counts)))
        )
        drawn: Hypothesis = self.drawn.draw(batch, rounds=rounds, near=least, rng=rng)
        return drawn


def test_a_correction_of_a_rule_that_the_batch_decides_is_noticed() -> None:
    drawn = drawing_from(ONE, epsilon=EPSILON, asking=True)
    assert exceeds(curve_of(Aimed(drawn), LAST, PAIRS[0])) > 1e-3


TINY = DisjointBatches(
    concepts=DecisionTrees(ONE.schema, 0), epsilon=EPSILON, first=1, longest=2, window=1
)


@pytest.fixture
def even_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prior weights 1 : 1 : 1 : 1, so that fewer coins have to be enumerated."""
    monkeypatch.setattr(algorithm, "_TRUST", 1)
    monkeypatch.setattr(algorithm, "_SHOWN", 0)


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize(
    "place",
    [
        0,
        pytest.param(1, marks=pytest.mark.slow),
        pytest.param(2, marks=pytest.mark.slow),
        3,  # it is read by a window
    ],
)
def test_each_example_is_read_by_one_draw_and_pays_epsilon(place: int) -> None:
    stream = (((0,), 1), ((1,), 2), ((0,), 0), ((1,), 1))
    adversary = Replace(place, ((0,), 1), ((1,), 2), stream)
    learner = replace(TINY, watched_from=1)
    curve = privacy_curve(Subject.from_learner(learner), adversary, rounds=4)
    assert 0.1 < curve.epsilon_lower_bound(0.0) <= EPSILON + 1e-9


FOUR = Schema.from_mapping(
    {**{f"f{i}": {"grid": list(range(6))} for i in range(4)}, "label": LABEL}
)


def events(count: int, seed: int = 5) -> tuple[list[tuple[int, ...]], list[int]]:
    """Three labels that a tree of depth two tells apart; one in twenty is drawn anew."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 7, size=(count, 4))
    truth = np.where(cells[:, 0] < 3, 0, np.where(cells[:, 1] < 4, 1, 2))
    labels = np.where(rng.random(count) < 0.05, rng.integers(0, 3, count), truth)
    return [tuple(row) for row in cells.tolist()], labels.tolist()


def test_it_learns_three_labels_among_noise() -> None:
    xs, ys = events(4000)
    learner = DisjointBatches(concepts=DecisionTrees(FOUR, 2), epsilon=1.0)
    # The best rule errs 133 times, the best constant 2,300 times.
    assert mistakes(learner, xs, ys) < 600


EIGHT = LabelledSchema(FOUR.fields, tuple("abcdefgh"))


def corners(count: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Eight labels, one for each way in which three fields are small or large."""
    cells = np.random.default_rng(6).integers(0, 7, size=(count, 4))
    labels = 4 * (cells[:, 0] > 2) + 2 * (cells[:, 1] > 2) + (cells[:, 2] > 2)
    return [tuple(row) for row in cells.tolist()], labels.tolist()


def test_corrections_reach_labels_that_one_tree_has_no_leaves_for() -> None:
    # Four leaves are right about half of the rounds or a few more.
    xs, ys = corners(12_000)
    learner = DisjointBatches(concepts=DecisionTrees(EIGHT, 2), epsilon=1.0, directions=0)
    assert (
        mistakes(learner, xs, ys) < 2000 < 5000 < mistakes(replace(learner, asking=False), xs, ys)
    )


def test_windows_follow_good_and_bad_times_of_every_label() -> None:
    constants = DisjointBatches(concepts=ONE, epsilon=1.0).engine(seeded(1))._constants
    assert [constant((0,)) for constant in constants] == [0, 1, 2]
    ys = ([0] * 300 + [2] * 300 + [1] * 300) * 3
    xs = [(0, 0, 0, 0)] * len(ys)
    learner = DisjointBatches(
        concepts=DecisionTrees(FOUR, 1), epsilon=1.0, watched_from=1, directions=0
    )
    assert mistakes(learner, xs, ys) < 1400 < 2000 < mistakes(replace(learner, window=0), xs, ys)


def test_blocks_are_the_same_rounds_and_a_saved_run_goes_on() -> None:
    learner = DisjointBatches(
        concepts=DecisionTrees(EIGHT, 2), epsilon=2.0, longest=60, window=8, watched_from=50,
        directions=64,
    )  # fmt: skip
    xs, ys = corners(500)
    single, block = learner.start(rng=seeded(1)), learner.start(rng=seeded(1))
    for x, y in zip(xs, ys, strict=True):
        single.observe(x, y)
    taken = 0
    while taken < len(ys):
        taken += block.observe_many(np.array(xs[taken:]), np.array(ys[taken:]))
    assert single.hypothesis == block.hypothesis and single.switches == block.switches
    assert isinstance(single.hypothesis, LayeredTree)
    check_a_saved_run(learner, xs, ys, at=300)


def test_a_round_without_an_example_is_nobodys_error() -> None:
    learner = DisjointBatches(concepts=ONE, epsilon=1.0, first=4)
    run = learner.start(rng=seeded(1))
    for _ in range(4):
        run.pass_round()
    assert run.rounds_played == 4
    assert algorithm._counted([(0,), (0,), (1,)], [2, -1, -1], 3) == {
        (0,): [0, 0, 1],
        (1,): [0] * 3,
    }


@pytest.mark.parametrize("near", [DecisionTree(FOUR, 0), None], ids=["a constant", "linear"])
def test_errors_of_linear_rules_are_those_of_the_published_rules(near: Any) -> None:
    pool = ScorePool(FOUR, 30)
    last = pool.draw(DecisionTree(FOUR, 0), rng=seeded(3)).rule(4) if near is None else near
    xs, ys = events(60)
    tally = algorithm._counted([*xs], ys, 3)
    rules = pool.draw(last, rng=seeded(2))
    found = rules.errors(Sample.of(tally, 3))
    assert len(found) == pool.size == 30
    for number, errors in enumerate(found):
        rule = rules.rule(number)
        assert errors == sum(rule(x) != y for x, y in zip(xs, ys, strict=True))
    assert len({rules.rule(number) for number in range(30)}) == 30
    if near is None:  # a third of the rules is near the last one
        flat = rules.points[:, :, 1:].reshape(30, -1)
        aim = np.array(last.points).ravel()
        alike = flat @ aim / np.linalg.norm(flat, axis=1) / np.linalg.norm(aim)
        assert alike[:10].mean() > 0.6 > 0.3 > np.abs(alike[10:]).mean()


def test_linear_rules_are_tried_where_few_weights_are_enough() -> None:
    def directions(fields: int, labels: int) -> int | None:
        schema = LabelledSchema(
            Schema.from_mapping({f"f{i}": {"grid": [0]} for i in range(fields)}).fields,
            tuple(range(labels)),
        )
        return DisjointBatches(concepts=DecisionTrees(schema, 2), epsilon=1.0).directions

    assert [directions(*pair) for pair in ((3, 3), (8, 8), (9, 8), (32, 2), (64, 10))] == [
        0, 2048, 0, 2048, 0,
    ]  # fmt: skip


def test_a_rule_with_all_the_layers_it_may_have_loses_the_oldest() -> None:
    before = with_label_before(ONE.schema)
    layers = tuple(
        DecisionTree(before, ((0, 1, 1), number % 3, 3)) for number in range(MOST_LAYERS)
    )
    full = LayeredTree(LAST, layers)
    asked = last_rule_question(full, 3)
    assert isinstance(asked, Corrected) and asked.last == LayeredTree(LAST, layers[1:])
    assert last_rule_question(LayeredTree(LAST, layers[1:]), 3) == Corrected(
        LayeredTree(LAST, layers[1:])
    )
    assert last_rule_question(DecisionTree(ONE.schema, 1), 3) is None


def test_more_labels_than_a_learner_can_tell_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 2 labels for AgnosticFinite, got 3"):
        AgnosticFinite(concepts=ONE, rounds=10, epsilon=1.0, delta=1e-6).start()
    with pytest.raises(ValueError, match="must be decision trees for more than two labels"):
        DisjointBatches(concepts=Stumps(ONE.schema, 1), epsilon=1.0)
    with pytest.raises(ValueError, match="alike is for directions of two labels"):
        DisjointBatches(concepts=ONE, epsilon=1.0, directions=4, alike=True)
    run = DisjointBatches(concepts=ONE, epsilon=1.0).start()
    for label in (3, -1, "late", 0.5):
        with pytest.raises(ValueError, match="label must be from 0 to 2"):
            run.observe((0,), label)
    with pytest.raises(ValueError, match=r"label must be from 0 to 2, got labels\[1\]"):
        run.observe_many(np.array([[0], [0]]), np.array([2, 3]))
    assert run.rounds_played == 0


@pytest.mark.parametrize("values", [["ok", "late"], ["late", "ok"], ["late", "ok", "cancelled"]])
def test_the_first_declared_label_is_published_until_the_first_batch_ends(
    values: list[str],
) -> None:
    schema = Schema.from_mapping({"a": {"grid": [0]}, "label": {"values": values}})
    run = Request(over=schema, rounds=100).recipe().start(rng=seeded(1))
    place = values.index("late")
    for round in range(31):
        assert run.hypothesis.describe() == repr(values[0]), round
        run.observe((0,), place)
    run.observe((0,), place)
    assert run.hypothesis.describe() == "'late'"  # 32 of 32 say so: all but surely
