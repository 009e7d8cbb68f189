"""Rules from disjoint batches: one draw reads each example, and the promise is tight."""

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from tests.battery import check_a_saved_run

from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.two_worlds import Subject, World
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.learners import codec
from littlestone.learners.disjoint_batches import algorithm
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.randomness import Randomness, seeded

SCHEMA = Schema.from_mapping({"a": {"grid": [0, 1]}, "b": {"values": ["x", "y", "z"]}})
TINY = DisjointBatches(concepts=Thresholds(1), epsilon=1.0, first=1, longest=2, window=1)
WATCHED = replace(TINY, watched_from=1)


@dataclass(frozen=True)
class Replace:
    """The same examples in both worlds, but for the one at ``place``."""

    place: int
    zero: Any
    one: Any
    others: tuple[Any, ...]

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        for number, example in enumerate(self.others):
            if number == self.place:
                world.challenge(self.zero, self.one)
            else:
                world.send(example)
        return None


# Round 1 fills a batch, 2 and 3 fill one, and so do 4 and 5.
STREAM = ((0, 1), (0, 0), (0, 1), (0, 0), (0, 1), (0, 1))


def _fields(learner: DisjointBatches) -> dict[str, Any]:
    return {field.name: getattr(learner, field.name) for field in fields(learner)}


def exact_epsilon(learner: DisjointBatches, place: int, rounds: int = 5) -> float:
    """What replacing one example of the stream shows at least, all coins enumerated."""
    adversary = Replace(place, (0, 1), (0, 0), STREAM[:rounds])
    curve = privacy_curve(Subject.from_learner(learner), adversary, rounds=rounds)
    return curve.epsilon_lower_bound(0.0)


@pytest.mark.parametrize("place", range(4))
def test_each_example_is_read_by_one_draw_and_pays_epsilon(place: int) -> None:
    assert 0.1 < exact_epsilon(TINY, place) <= 1.0 + 1e-9


@pytest.fixture
def even_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prior weights 1 : 1 : 1, so that fewer coins have to be enumerated."""
    monkeypatch.setattr(algorithm, "_TRUST", 1)
    monkeypatch.setattr(algorithm, "_SHOWN", 0)


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize("place", range(4))  # the last one is read by a window
def test_with_windows_each_example_is_read_by_one_draw(place: int) -> None:
    assert 0.1 < exact_epsilon(WATCHED, place, 4) <= 1.0 + 1e-9


@pytest.fixture
def quick_times(monkeypatch: pytest.MonkeyPatch, even_trust: None) -> None:
    """Each window alone says where the next examples go."""
    del even_trust
    monkeypatch.setattr(algorithm, "_REMEMBERED", 1)
    monkeypatch.setattr(algorithm, "_MANY", 1)
    monkeypatch.setattr(algorithm, "_CONSTANT", {1: 1, 3: 2})


@pytest.mark.usefixtures("quick_times")
@pytest.mark.parametrize(
    "place",  # a window may read the last one, or a batch
    [0, *(pytest.param(place, marks=pytest.mark.slow) for place in range(1, 5)), 5],
)
def test_where_examples_go_may_depend_on_earlier_windows(place: int) -> None:
    learner = replace(WATCHED, longest=1)
    shown = exact_epsilon(learner, place, 6)
    assert 0.1 < shown <= 1.0 + 1e-9


class _LooksFirst(DisjointBatchesEngine):
    """Broken: the label says where its example goes."""

    def step(self, x: Any, y: int, /) -> None:
        self._watching = 3 if y else 1
        super().step(x, y)


class _RereadsBatches(DisjointBatchesEngine):
    """Broken: a batch is drawn from again with the next one."""

    def _draw(self) -> None:
        points, labels = self._points, self._labels
        super()._draw()
        self._points, self._labels = points, labels


class _TakesTwice(DisjointBatchesEngine):
    """Broken: an example counts twice within its batch."""

    def _draw(self) -> None:
        self._points, self._labels = 2 * self._points, 2 * self._labels
        super()._draw()


class _SharesWindows(DisjointBatchesEngine):
    """Broken: the next batch has the examples of a window, too."""

    def _choose(self) -> None:
        self._points, self._labels = list(self._window_points), list(self._window_labels)
        self._size += 1
        super()._choose()


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize(
    ("engine", "place", "rounds"),
    [(_RereadsBatches, 0, 5), (_TakesTwice, 1, 3), (_SharesWindows, 3, 6), (_LooksFirst, 1, 3)],
)
def test_reading_an_example_twice_is_noticed(
    engine: type[DisjointBatchesEngine], place: int, rounds: int
) -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Broken(DisjointBatches):
        def engine(self, rng: Randomness, /) -> DisjointBatchesEngine:
            return engine(self, rng)

    shared = TINY if engine in (_RereadsBatches, _TakesTwice) else WATCHED
    assert exact_epsilon(Broken(**_fields(shared)), place, rounds) > 1.05


def late(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    cells = rng.integers(0, 3, size=(count, 2))
    labels = ((cells[:, 0] == 2) & (cells[:, 1] == 0)) ^ (rng.random(count) < 0.05)
    return [tuple(row) for row in cells.tolist()], labels.astype(int).tolist()


def mistakes(learner: DisjointBatches, xs: list[Any], ys: list[int], seed: int = 3) -> int:
    run, wrong = learner.start(rng=seeded(seed)), 0
    for x, y in zip(xs, ys, strict=True):
        wrong += run.hypothesis(x) != y
        run.observe(x, y)
    return wrong


@pytest.mark.parametrize("concepts", [DecisionTrees(SCHEMA, 2), Stumps(SCHEMA, 2)])
def test_it_learns_a_rule_among_noise(concepts: Any) -> None:
    xs, ys = late(np.random.default_rng(5), 4000)
    learner = DisjointBatches(concepts=concepts, epsilon=1.0)
    # The best rule errs 200 times, never 633 times.
    assert mistakes(learner, xs, ys) < 330


def abrupt(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    """The label turns over in the middle; one in twenty is wrong."""
    cells = rng.integers(0, 3, size=(count, 2))
    turned = np.arange(count) >= count // 2
    labels = (cells[:, 0] == 2) ^ turned ^ (rng.random(count) < 0.05)
    return [tuple(row) for row in cells.tolist()], labels.astype(int).tolist()


def test_batches_that_stop_growing_follow_an_abrupt_change_of_the_rule() -> None:
    xs, ys = abrupt(np.random.default_rng(8), 12_000)
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0)
    # 600 labels are wrong.
    assert mistakes(learner, xs, ys) < 1500
    assert mistakes(replace(learner, longest=12_000, window=0), xs, ys) > 2000


def test_batches_double_then_stay_then_grow_with_the_past() -> None:
    learner = DisjointBatches(concepts=Thresholds(3), epsilon=0.5, past=4)
    played, sizes = 0, []
    for number in range(12):
        sizes.append(learner.batch_size(number, played))
        played += sizes[-1]
    assert sizes[:7] == [64, 128, 256, 512, 1024, 1024, 1024]
    assert sizes[7:] == [1024, 1264, 1580, 1975, 2468]


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 16.0, 1e6])
def test_more_epsilon_makes_no_batch_shorter_and_no_draw_too_sharp(epsilon: float) -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 2), epsilon=epsilon)
    assert (learner.first, learner.longest, learner.window) == (32, 512, 32)
    assert learner.drawn_epsilon == min(epsilon, 4.0)
    assert replace(learner, concepts=Thresholds(3), asking=False).drawn_epsilon == epsilon


def test_a_field_that_only_tells_the_time_is_not_mistaken_for_a_reason() -> None:
    # Months that have not come yet do not tell trees apart: the simpler one is likelier.
    months = Schema.from_mapping({"month": {"values": list(range(12))}, "a": {"grid": [0]}})
    learner = DisjointBatches(concepts=DecisionTrees(months, 3), epsilon=1.0)
    count, rng = 3000, np.random.default_rng(10)
    xs = [(round_ * 12 // count, int(rng.integers(0, 2))) for round_ in range(count)]
    ys = (rng.random(count) < 0.2).astype(int).tolist()
    wrong = [mistakes(learner, xs, ys, seed) for seed in range(6)]
    # "Always 0" errs about 600 times; labels by chance for months to come would err 1,500 times.
    assert sum(wrong) / len(wrong) < 1.15 * sum(ys)


def test_windows_follow_good_and_bad_times() -> None:
    ys = ([0] * 400 + [1] * 400) * 4
    xs = [(0, 0)] * len(ys)
    watching = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, watched_from=1)
    assert mistakes(watching, xs, ys) < 1100 < 1400 < mistakes(replace(watching, window=0), xs, ys)


@pytest.fixture(params=["as it is", "times change"])
def times(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also as if windows had drawn constants all the time, from the second window on."""
    if request.param == "times change":
        monkeypatch.setattr(algorithm, "_REMEMBERED", 2)
        monkeypatch.setattr(algorithm, "_MANY", 0)


@pytest.mark.usefixtures("times")
@pytest.mark.parametrize("watched_from", [1, 50, 60, 10**6])
@pytest.mark.parametrize("window", [0, 1, 7, 32])
def test_blocks_are_the_same_rounds(watched_from: int, window: int) -> None:
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 2),
        epsilon=2.0,
        longest=50,
        window=window,
        watched_from=watched_from,
    )
    xs, ys = late(np.random.default_rng(6), 600)
    single, block = learner.start(rng=seeded(1)), learner.start(rng=seeded(1))
    for x, y in zip(xs, ys, strict=True):
        single.observe(x, y)
    taken = 0
    while taken < len(ys):
        taken += block.observe_many(np.array(xs[taken:]), np.array(ys[taken:]))
        assert block.rounds_played == taken
    assert single.hypothesis == block.hypothesis and single.switches == block.switches
    states = [codec.dumps(each._engine.state()[1:], (SCHEMA,)) for each in (single, block)]
    assert states[0] == states[1]


@pytest.mark.usefixtures("times")
@pytest.mark.parametrize("coin", range(8))
def test_single_rounds_between_blocks_are_the_same_rounds(coin: int) -> None:
    """Also rounds without an example, and a run that is saved in between."""
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 2), epsilon=2.0, longest=50, window=7, watched_from=60
    )
    generator = np.random.default_rng(coin)
    xs, ys = late(generator, 900)
    single, mixed = learner.start(rng=seeded(1)), learner.start(rng=seeded(1))
    taken = 0
    while taken < len(ys):
        way, some = generator.integers(4), int(generator.integers(1, 90))
        if way == 0:
            mixed.pass_round()
            single.pass_round()
            continue
        if way == 1:
            mixed = learner.restore(mixed.snapshot())
        if way == 2:
            mixed.observe(xs[taken], ys[taken])
            count = 1
        else:
            block = slice(taken, taken + some)
            count = mixed.observe_many(np.array(xs[block]), np.array(ys[block]))
        for x, y in zip(xs[taken : taken + count], ys[taken : taken + count], strict=True):
            single.observe(x, y)
        taken += count
        assert single.hypothesis == mixed.hypothesis and single.switches == mixed.switches


@pytest.mark.usefixtures("times")
def test_a_saved_run_goes_on_identically() -> None:
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 2), epsilon=2.0, longest=50, window=8, watched_from=50
    )
    xs, ys = late(np.random.default_rng(7), 500)
    check_a_saved_run(learner, xs, ys, at=300)


def test_no_horizon_is_needed_and_no_delta() -> None:
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 3), epsilon=0.5)
    assert learner.rounds is None and learner.guarantee().delta == 0
    assert [learner.batch_size(number, 0) for number in range(3)] == [64, 128, 256]
    assert replace(learner, longest=100).batch_size(9, 0) == 100
    large = learner.excess_bound(size=10**6, failure_probability=0.05)
    assert large < 0.02 < learner.excess_bound(size=10**4, failure_probability=0.05) < 1


def test_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="growth"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, growth=0.5)
    with pytest.raises(ValueError, match="infinitely many"):
        DisjointBatches(concepts=Points(), epsilon=1.0)
    with pytest.raises(ValueError, match="longest"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, longest=0)
    with pytest.raises(ValueError, match="past"):
        DisjointBatches(concepts=Thresholds(3), epsilon=1.0, past=0)


def test_batches_that_stop_growing_never_overflow() -> None:
    learner = DisjointBatches(concepts=Thresholds(3), epsilon=1.0, first=1, longest=4)
    assert learner.batch_size(10**6, 20) == 4


@pytest.mark.usefixtures("even_trust")
@pytest.mark.parametrize("place", range(4))
def test_with_a_vote_each_example_is_read_by_one_draw(place: int) -> None:
    assert 0.1 < exact_epsilon(replace(WATCHED, voters=3), place, 4) <= 1.0 + 1e-9


@dataclass
class Scripted:
    """Draws what it is told to, and remembers how many rounds each batch had."""

    rules: list[Hypothesis]
    rounds: list[int]

    def draw(self, batch: object, *, rounds: int, near: object, rng: object) -> Hypothesis:
        del batch, near, rng
        self.rounds.append(rounds)
        return self.rules.pop(0)


ROOTS = ((0, 1, 2), (1, 0, 0), (1, 1, 1), (0, 2, 2), (1, 2, 2))
RULES = [DecisionTree(SCHEMA, (condition, 1, 0)) for condition in ROOTS]


def scripted(rules: list[Hypothesis], **changed: Any) -> tuple[Any, Scripted]:
    """A run whose batches have 2, 4, 4, 4, … rounds, and what they draw."""
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, first=2, longest=4, **changed
    )
    run, drawing = learner.start(rng=seeded(1)), Scripted(list(rules), [])
    engine: Any = run._engine
    engine._drawing = drawing
    return run, drawing


@pytest.mark.parametrize("voters", [1, 3])
def test_the_last_three_rules_vote_once_batches_no_longer_double(voters: int) -> None:
    run, drawing = scripted(list(RULES), voters=voters)
    published = []
    for size in (2, 4, 4, 4, 4):
        for _ in range(size):
            run.observe((0, 0), 0)
        published.append(run.hypothesis)
    voted = [MajorityVote(RULES[place : place + 3]) for place in range(3)]
    assert published == (RULES if voters == 1 else RULES[:2] + voted)
    assert drawing.rounds == [2, 4, 4, 4, 4]


def test_two_rules_that_are_the_same_win_the_vote() -> None:
    a, b, c = RULES[:3]
    run, _ = scripted([a, b, a, a, c])
    for _ in range(10):
        run.observe((0, 0), 0)
    assert run.hypothesis == a  # of a, b, a
    for _ in range(8):
        run.observe((0, 0), 0)
    assert run.hypothesis == a  # of a, a, c


def test_a_window_prefers_the_newest_rule_after_a_change() -> None:
    xs, ys = abrupt(np.random.default_rng(8), 12_000)
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, watched_from=1)
    assert mistakes(learner, xs, ys) < mistakes(replace(learner, window=0), xs, ys) - 100


def test_the_newest_rule_is_a_candidate_of_a_window() -> None:
    """It errs never, all others in half of the window or more: e^(-2·16) against it."""
    learner = DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, watched_from=1)
    xs = np.asarray(abrupt(np.random.default_rng(8), 2_000)[0])
    never = DecisionTree(SCHEMA, 0)
    newest = DecisionTree(SCHEMA, ((0, 1, 1), 1, 0))
    said = newest.many(xs)
    half = (learner.window or 0) // 2
    places = [*np.flatnonzero(said == 1)[:half], *np.flatnonzero(said == 0)[:half]]
    engine = DisjointBatchesEngine(learner, seeded(1))
    engine.begin()
    engine._drawn, engine._lengths = [never, never, newest], [9, 9, 9]
    engine._rule = engine._vote()
    assert engine._rule == never
    engine._window_points = [tuple(x) for x in xs[places].tolist()]
    engine._window_labels = said[places].tolist()
    engine._choose()
    assert engine.hypothesis == newest


def test_with_little_epsilon_batches_are_too_long_for_a_vote() -> None:
    trees = DecisionTrees(SCHEMA, 1)
    voters = {
        epsilon: DisjointBatches(concepts=trees, epsilon=epsilon).voters
        for epsilon in (2.0, 1.0, 0.76, 0.75, 0.1)
    }
    assert voters == {2.0: 3, 1.0: 3, 0.76: 3, 0.75: 1, 0.1: 1}
    assert DisjointBatches(concepts=trees, epsilon=0.1, voters=3).voters == 3


def test_voters_are_one_or_three() -> None:
    assert DisjointBatches(concepts=Thresholds(3), epsilon=1.0).voters == 1
    with pytest.raises(ValueError, match="voters"):
        DisjointBatches(concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, voters=2)


def restless(against: int, windows: int = 64) -> DisjointBatchesEngine:
    """An engine after 4,000 rounds, when so many of its last windows drew a constant."""
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 1), epsilon=1.0, longest=8, watched_from=9
    )
    engine = DisjointBatchesEngine(learner, seeded(1))
    engine.begin()
    engine._against = [1] * against + [0] * (windows - against)
    engine._batches, engine._played = 20, 4000
    engine._begin_batch()
    return engine


@pytest.mark.parametrize(
    ("against", "windows", "read", "size"), [(4, 64, 3, 83), (3, 64, 1, 250), (60, 63, 1, 250)]
)
def test_while_windows_draw_constants_three_rounds_of_four_go_to_them(
    against: int, windows: int, read: int, size: int
) -> None:
    engine = restless(against, windows)
    assert engine._size == size  # a late batch spans as many rounds as usual
    for _ in range(16):
        engine.step((0, 0), 0)
    assert len(engine._window_labels) == 4 * read and len(engine._labels) == 16 - 4 * read


def test_while_windows_draw_constants_these_weigh_more(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = []

    def run_drawn(choice: object, errors: object, weights: list[int], *, rng: object) -> int:
        del choice, errors, rng
        weighed.append(weights)
        return 0

    monkeypatch.setattr(algorithm, "run_drawn", run_drawn)
    for engine in (restless(3), restless(4)):
        engine._rule = RULES[0]
        engine._show([0, 0, 0, 0])
    assert weighed == [[144, 1, 1, 40], [144, 10, 10, 40]]


def test_a_constant_that_is_the_rule_is_no_change_of_times() -> None:
    """Only "always 1" is against a rule that is "always 0", and the last 64 windows count."""
    engine = restless(0)
    for errors in ([0, 0, 32], [32, 32, 0], [0, 0, 32]):
        engine._show([1000 * each for each in errors])
    assert engine._against == [0] * 62 + [1, 0]


def test_many_windows_that_draw_constants_follow_quick_changes_sooner() -> None:
    """Good and bad times of 100 rounds: with one round of four they are over when noticed."""
    ys = ([0] * 100 + [1] * 100) * 100
    xs = [(0, 0)] * len(ys)
    learner = DisjointBatches(
        concepts=DecisionTrees(SCHEMA, 1), epsilon=2.0, window=8, watched_from=1, past=1000
    )
    second = len(ys) // 2
    run, wrong = learner.start(rng=seeded(3)), 0
    for number, (x, y) in enumerate(zip(xs, ys, strict=True)):
        wrong += number >= second and run.hypothesis(x) != y
        run.observe(x, y)
    assert wrong < 0.25 * second  # 0.33 with one round of four
