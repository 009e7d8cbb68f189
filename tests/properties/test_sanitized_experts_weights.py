"""Weights by groups are those of all constructed experts, listed one by one: exactly."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import hoeffding

from littlestone.audit.controls.broken_experts import NoSanitizer
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.version_spaces import subsets_up_to
from littlestone.game.protocols import OnlineLearner, OnlineState
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.sanitized.draw import GroupDraw, weigh
from littlestone.learners.sanitized.paths import (
    SLOT_BITS,
    Paths,
    PredictorLosses,
    shares_of,
)
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals
from littlestone.privacy.mechanisms.noise.exact import exp_bounds
from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.randomness import Randomness, seeded

POINTS = 3
RATE = Fraction(1, 2)
TABLE = weight_table(RATE, 6)  # coarse, and with a floor that is reached

matrices = st.lists(
    st.lists(st.integers(0, 1), min_size=POINTS, max_size=POINTS), min_size=1, max_size=6
)
streams = st.lists(st.tuples(st.integers(0, POINTS - 1), st.integers(0, 1)), min_size=2, max_size=6)
learners = st.sampled_from([StandardOptimal, SparseMajority])
grids = st.integers(1, 2)
Lists = dict[tuple[int, int], tuple[int, ...]]
Told = OnlineState | None


@st.composite
def released_lists(draw: st.DrawFn) -> Lists:
    """Any lists of points at all, for every interval of steps; some are empty."""
    points = st.lists(st.integers(0, POINTS - 1), max_size=2, unique=True).map(tuple)
    return {(a, b): draw(points) for b in range(1, 7) for a in range(1, b + 1)}


def listed_experts(
    base: OnlineLearner, released: Lists, *, times: int, most: int
) -> Iterator[tuple[list[Told], int]]:
    """[P, Algorithm 6], for each index: its state after 0, 1, … switch times, and its mass.

    An index is a set of switch times with a slot each; indices whose slots choose the same points
    are listed once, with their number.
    """

    def go_on(
        states: list[Told], last: int, used: int, mass: int
    ) -> Iterator[tuple[list[Told], int]]:
        now = len(states)
        if now > times:
            yield states, mass << (SLOT_BITS * (most - used))
            return
        yield from go_on([*states, states[-1]], last, used, mass)
        if used == most:
            return
        state, points = states[-1], released[last + 1, now]
        if state is None or not points:
            yield from go_on([*states, state], last, used + 1, mass << SLOT_BITS)
            return
        for x, share in zip(points, shares_of(len(points)), strict=True):
            told: Told = state.after(x, 1 - state.hypothesis(x))
            told = None if told is None or told.failed else told
            yield from go_on([*states, told], now, used + 1, mass * share)

    yield from go_on([base.start()], 0, 0, 1)


def predictions(base: OnlineLearner, state: Told) -> tuple[int, ...]:
    hypothesis = (base.start() if state is None else state).hypothesis
    return tuple(hypothesis(x) for x in range(POINTS))


def paths_of(
    base: OnlineLearner, losses: PredictorLosses, times: int, most: int, limit: int
) -> Paths:
    return Paths(base, losses, switch_times=times, most_switches=most, most_groups=limit)


@given(
    matrix=matrices,
    examples=streams,
    released=released_lists(),
    learner=learners,
    most=st.integers(0, 3),
    grid=grids,
)
def test_weights_by_groups_are_those_of_all_experts_listed(
    matrix: list[list[int]],
    examples: list[tuple[int, int]],
    released: Lists,
    learner: type[OnlineLearner],
    most: int,
    grid: int,
) -> None:
    base: OnlineLearner = learner(FiniteClass(matrix))  # type: ignore[call-arg]
    times = (len(examples) - 1) // grid
    everyone = list(listed_experts(base, released, times=times, most=most))
    losses = PredictorLosses(base.concepts.domain)
    paths = paths_of(base, losses, times, most, 10**6)
    lost = [0] * len(everyone)
    assert sum(mass for _, mass in everyone) == subsets_up_to(times, most) << (SLOT_BITS * most)
    for t, (x, y) in enumerate(examples):
        step = t // grid
        least = min(lost)
        expected: dict[tuple[int, ...], int] = defaultdict(int)
        for (states, mass), loss in zip(everyone, lost, strict=True):
            weight = TABLE.weights[TABLE.level(loss - least)]
            expected[predictions(base, states[step])] += mass * weight
        elements = list(paths.elements(paths.losses_now()))
        assert min(loss for _, _, loss, _ in elements) == least
        found: dict[tuple[int, ...], int] = defaultdict(int)
        for (group, *_), weight in zip(elements, weigh(elements, TABLE, least), strict=True):
            found[tuple(paths.hypothesis(group)(x) for x in range(POINTS))] += weight
        assert found == expected
        lost = [
            loss + (predictions(base, states[step])[x] != y)
            for (states, _), loss in zip(everyone, lost, strict=True)
        ]
        losses.add(x, y)
        if (t + 1) % grid == 0 and paths.passed < times:
            paths.branch(lambda first, last: released[first, last])
            losses.keep({group.predictor for group in paths.groups})


@given(matrix=matrices, released=released_lists(), learner=learners, most=st.integers(0, 3))
def test_the_played_expert_goes_where_its_group_goes(
    matrix: list[list[int]], released: Lists, learner: type[OnlineLearner], most: int
) -> None:
    """Continuing a random expert of a random group is the same as drawing from all groups anew."""
    base: OnlineLearner = learner(FiniteClass(matrix))  # type: ignore[call-arg]
    losses = PredictorLosses(base.concepts.domain)
    paths = paths_of(base, losses, 4, most, 10**6)
    for _ in range(4):
        before = total_masses(paths)
        used = [group.place.used for group in paths.groups]
        moves = paths.branch(lambda first, last: released[first, last])
        after: dict[int, Fraction] = defaultdict(Fraction)
        for number, mass in before.items():
            choices = paths.continuations(moves[number], used[number])
            everything = sum(weight for _, weight in choices)
            for group, weight in choices:
                after[group] += mass * Fraction(weight, everything)
        assert after == total_masses(paths)


def total_masses(paths: Paths) -> dict[int, int]:
    masses: dict[int, int] = defaultdict(int)
    for group, _, _, mass in paths.elements(paths.losses_now()):
        masses[group] += mass
    return masses


@given(matrix=matrices, released=released_lists(), limit=st.integers(1, 6))
def test_the_limit_on_groups_keeps_every_expert(
    matrix: list[list[int]], released: Lists, limit: int
) -> None:
    base = StandardOptimal(FiniteClass(matrix))
    losses = PredictorLosses(base.concepts.domain)
    paths = paths_of(base, losses, 4, 2, limit)
    everyone = sum(total_masses(paths).values())
    for _ in range(4):
        if paths.finished:
            break
        losses.add(0, 1)
        paths.branch(lambda first, last: released[first, last])
        assert sum(total_masses(paths).values()) == everyone
        assert len(paths.groups) <= limit + 1 + 3  # one group and its children may still come


def laws(
    base: OnlineLearner, released: Lists, examples: list[tuple[int, int]], most: int, refresh: int
) -> Iterator[dict[int, int]]:
    """The whole-number weights of the groups before each round, laid out every few rounds."""
    losses = PredictorLosses(base.concepts.domain)
    paths = paths_of(base, losses, len(examples) // 2, most, 10**6)
    least = 0
    for t, (x, y) in enumerate(examples):
        elements = list(paths.elements(paths.losses_now()))
        if t % refresh == 0 or t % 2 == 0:  # the second: there was a switch time
            least = min(loss for _, _, loss, _ in elements)
        weights: dict[int, int] = defaultdict(int)
        for (group, *_), weight in zip(elements, weigh(elements, TABLE, least), strict=True):
            weights[group] += weight
        yield weights
        losses.add(x, y)
        if t % 2 == 1 and not paths.finished:
            paths.branch(lambda first, last: released[first, last])


def span(law: dict[int, int], other: dict[int, int]) -> Fraction:
    """The largest ratio of likelihood ratios, whose logarithm is the span."""
    assert law.keys() == other.keys()
    ratios = [Fraction(law[group], other[group]) for group in law]
    return max(ratios) / min(ratios)


@given(
    matrix=matrices,
    examples=streams,
    released=released_lists(),
    learner=learners,
    most=st.integers(1, 3),
    refresh=st.integers(1, 2),
    special=st.tuples(st.integers(0, 5), st.integers(0, POINTS - 1), st.integers(0, 1)),
)
def test_one_example_moves_each_draw_by_twice_the_rate(
    matrix: list[list[int]],
    examples: list[tuple[int, int]],
    released: Lists,
    learner: type[OnlineLearner],
    most: int,
    refresh: int,
    special: tuple[int, int, int],
) -> None:
    """Exactly: with the same released points the log-likelihood ratio of a draw spans 2 * rate."""
    base: OnlineLearner = learner(FiniteClass(matrix))  # type: ignore[call-arg]
    when, x, y = special
    neighbour = list(examples)
    neighbour[when % len(examples)] = (x, y)
    worlds = (laws(base, released, each, most, refresh) for each in (examples, neighbour))
    low, _ = exp_bounds(2 * RATE, 64)
    for law, other in zip(*worlds, strict=True):
        assert span(law, other) * low <= 1 << 64  # e**(2 * rate) is at most 2**64 / low


def test_a_draw_can_move_by_more_than_the_rate() -> None:
    base = StandardOptimal(FiniteClass([[0, 0, 0], [1, 0, 0]]))
    released: Lists = {(1, 1): (0,), (1, 2): (0,), (2, 2): ()}
    quiet = [(1, 0), (1, 0)]
    one, other = (
        list(laws(base, released, [*quiet, example, (1, 0)], 1, 1))[-1]
        for example in [(0, 0), (0, 1)]
    )
    _, high = exp_bounds(Fraction(3, 2) * RATE, 64)
    assert span(one, other) * high > 1 << 64


def without_sanitizer(size: int, parts: int) -> NoSanitizer:
    return NoSanitizer(concepts=Points(POINTS), epsilon=0.5 / parts, delta=5e-7 / parts)


@given(examples=streams, grid=grids)
def test_a_run_keeps_the_weights_of_all_experts_listed(
    examples: list[tuple[int, int]], grid: int
) -> None:
    """The learner as a whole, on points that are released as they are."""
    rounds = len(examples) + 1
    recipe = SanitizedExperts(
        concepts=Points(POINTS),
        rounds=rounds,
        epsilon=1.0,
        delta=1e-6,
        sanitizer=without_sanitizer,
        switch_grid=min(grid, rounds - 1),
    )
    grid, times = recipe.plan.construction.switch_grid, recipe.plan.construction.switch_times
    seen = [x for x, _ in examples]
    steps = [(a, b) for b in range(1, times + 1) for a in range(1, b + 1)]
    released = {}
    for a, b in steps:
        pieces = DyadicIntervals(rounds=rounds).decompose((a - 1) * grid + 1, b * grid)
        shown = (seen[left - 1 : right] for left, right in pieces)
        released[a, b] = tuple(dict.fromkeys(x for piece in shown for x in piece))
    base = SparseMajority(Points(POINTS))
    everyone = list(listed_experts(base, released, times=times, most=1))
    lost = [0] * len(everyone)
    engine = recipe.engine(seeded(1))
    engine.begin()
    for t, (x, y) in enumerate(examples):
        engine.step(x, y)
        lost = [
            loss + (predictions(base, states[t // grid])[x] != y)
            for (states, _), loss in zip(everyone, lost, strict=True)
        ]
        expected: dict[tuple[tuple[int, ...], int], int] = defaultdict(int)
        for (states, mass), loss in zip(everyone, lost, strict=True):
            step = min((t + 1) // grid, times)
            expected[predictions(base, states[step]), loss] += mass
        found: dict[tuple[tuple[int, ...], int], int] = defaultdict(int)
        paths = engine._paths
        for group, _, loss, mass in paths.elements(paths.losses_now()):
            found[tuple(paths.hypothesis(group)(x) for x in range(POINTS)), loss] += mass
        assert found == expected


def test_slots_are_shared_out_whole() -> None:
    for count in (1, 2, 3, 7, 1000):
        shares = shares_of(count)
        assert sum(shares) == 1 << SLOT_BITS
        assert max(shares) - min(shares) <= 1


@pytest.mark.statistical
@pytest.mark.parametrize("refresh", [1, 1000])
def test_draws_have_the_law_of_the_weights(refresh: int, rng: Randomness) -> None:
    """With layouts of any age."""
    base = StandardOptimal(FiniteClass([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    losses = PredictorLosses(base.concepts.domain)
    paths = paths_of(base, losses, 2, 1, 100)
    draw = GroupDraw(paths, losses, TABLE, refresh=refresh, rng=rng)
    paths.branch(lambda first, last: (0, 1, 2))
    draw.draw()  # lays the weights out before the losses
    for x, y in [(0, 1), (0, 1), (1, 0), (2, 1)]:
        losses.add(x, y)
        draw.passed(1)
    elements = list(paths.elements(paths.losses_now()))
    # The reference of the weights is the least loss when they were laid out.
    least = min(loss for _, _, loss, _ in elements) if refresh == 1 else 0
    exact: dict[int, int] = defaultdict(int)
    for (group, *_), weight in zip(elements, weigh(elements, TABLE, least), strict=True):
        exact[group] += weight
    runs = 20_000
    counts: dict[int, int] = defaultdict(int)
    for _ in range(runs):
        counts[draw.draw()] += 1
    allowed = hoeffding(runs, frequencies=len(exact))
    total = sum(exact.values())
    for group, weight in exact.items():
        assert abs(counts[group] / runs - weight / total) <= allowed
    # A control: the weights without the losses are another law.
    masses = total_masses(paths)
    flat = sum(masses.values())
    assert any(abs(exact[g] / total - masses[g] / flat) > 2 * allowed for g in masses)
    assert any(abs(counts[g] / runs - masses[g] / flat) > allowed for g in masses)
