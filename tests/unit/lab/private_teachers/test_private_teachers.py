"""PrivateTeachers: one list differs, lists only shrink, who errs often is struck off; the plan."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

import littlestone as ls
from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.two_worlds import Subject, World
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.lab.private_teachers.plan import TeachersPlan, plan_teachers
from littlestone.lab.private_teachers.recipe import PrivateTeachers, PrivateTeachersEngine
from littlestone.learners.batch.proper_step import irreducible_parts
from littlestone.randomness import Randomness, seeded
from littlestone.theory.realizable_bounds import mistakes_upper_bound, sharp_slots_upper_bound

COIN = FiniteClass([[0], [1]])
# Of dimension 1, on more points than a reach of two: leaves are not all single concepts.
POINTS = FiniteClass.from_class(ls.Points(4))
TINY = TeachersPlan(
    teachers=2,
    tolerance=1,
    mistakes=1,
    phases=2,
    count_epsilon=2.0,
    watch_epsilon=1.0,
    draw_epsilon=1.0,
    draw_delta=0.005,
)


def recipe(concepts: Any, plan: TeachersPlan, rounds: int = 100, **more: Any) -> PrivateTeachers:
    return PrivateTeachers(
        concepts=concepts, rounds=rounds, epsilon=1000.0, delta=0.02, plan=plan, **more
    )


class Replay(PrivateTeachersEngine):
    """The engine with the owners of rounds and the ends of phases given: what the proof fixes."""

    def _draw(self) -> None:
        """Nothing by chance: stages begin when they are told to."""

    def feed(self, x: int, y: int, owner: int) -> None:
        self._pending[owner] += self._table.matrix[:, x] != y

    def end_phase(self) -> list[frozenset[bytes]]:
        self._errors += self._pending
        self._pending[:] = 0
        self._refine()
        return self._lists()

    def next_stage(self) -> list[frozenset[bytes]]:
        self._enter(self._stage + 1)
        return self._lists()


class ToEveryone(Replay):
    """Broken: a round belongs to all teachers."""

    def feed(self, x: int, y: int, owner: int) -> None:
        del owner
        self._pending[:] += self._table.matrix[:, x] != y


class Regrown(Replay):
    """Broken: within a stage trees are grown anew, and D_i with them."""

    def end_phase(self) -> list[frozenset[bytes]]:
        self._errors += self._pending
        self._pending[:] = 0
        self._enter(self._stage)
        return self._lists()


def replayed(
    kind: type[Replay], made: PrivateTeachers, stream: list[tuple[int, int]], owners: list[int]
) -> list[list[frozenset[bytes]]]:
    """All lists when every second round ends a phase, then those of the next stage."""
    engine = kind(made, seeded(1))
    engine.begin()
    seen = [engine._lists()]
    for number, ((x, y), owner) in enumerate(zip(stream, owners, strict=True), start=1):
        engine.feed(x, y, owner)
        if number % 2 == 0:
            seen.append(engine.end_phase())
    return [*seen, engine.next_stage()]


def differing(kind: type[Replay]) -> Iterator[int]:
    """For all streams, owners and replaced examples: how many lists differ at a time."""
    made = recipe(POINTS, replace(TINY, teachers=3, tolerance=2))
    rest = [(0, 1), (1, 0), (2, 1)]
    for owners in product(range(3), repeat=4):
        for one, other in (((3, 1), (3, 0)), ((0, 0), (2, 1))):
            worlds = [replayed(kind, made, [z, *rest], list(owners)) for z in (one, other)]
            for left, right in zip(*worlds, strict=True):
                yield sum(a != b for a, b in zip(left, right, strict=True))


def test_a_replaced_example_changes_one_list_at_every_time() -> None:
    assert set(differing(Replay)) == {0, 1}


def test_rounds_that_belong_to_all_teachers_would_change_every_list() -> None:
    assert max(differing(ToEveryone)) == 3


def grows(kind: type[Replay]) -> bool:
    """Whether some list gets longer within a stage, on some stream."""
    made = recipe(POINTS, replace(TINY, teachers=1))
    examples = [(x, y) for x in range(4) for y in (0, 1)]
    for stream in product(examples, repeat=2):
        lists = replayed(kind, made, list(stream), [0] * 2)[:-1]
        if any(not after[0] <= before[0] for before, after in pairwise(lists)):
            return True
    return False


def test_lists_only_shrink_within_a_stage() -> None:
    assert not grows(Replay)


def test_trees_that_are_grown_anew_would_list_new_functions() -> None:
    assert grows(Regrown)


def test_who_errs_more_than_the_tolerance_is_struck_off() -> None:
    """Whatever the teacher: a listed function has erred on at most θ_r of its rounds."""
    made = recipe(POINTS, replace(TINY, teachers=2, tolerance=2))
    examples = [(x, y) for x in range(4) for y in (0, 1)]
    for pair in product(examples, repeat=2):
        stream = (*pair, *reversed(pair))
        *_, after, _ = replayed(Replay, made, list(stream), [0] * 4)
        for u in after[0]:
            assert sum(u[x] != y for x, y in stream) <= 1  # θ_0 = 2·(1 − 1/2)


@dataclass(frozen=True)
class First:
    """Challenges the first of two rounds."""

    def play(self, world: World, rng: Randomness) -> None:
        del rng
        world.challenge((0, 1), (0, 0))
        world.send((0, 1))


class MostPopular(PrivateTeachersEngine):
    """Broken: the most popular function is played, without noise."""

    def begin(self) -> None:
        super().begin()
        self._draw()

    def _draw(self) -> None:
        lists = self._lists()
        scores = {u: sum(u in known for known in lists) for known in lists for u in sorted(known)}
        best = max(scores, key=lambda u: (scores[u], u), default=None)
        if best is not None:
            self.hypothesis = TableHypothesis(best)
        self.halted = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenTeachers(PrivateTeachers):
    def engine(self, rng: Randomness, /) -> PrivateTeachersEngine:
        return MostPopular(self, rng)


def certain_excess(kind: type[PrivateTeachers]) -> tuple[float, float]:
    """By how much δ exceeds the promise for certain, and at most; all coins are gone through."""
    made = kind(concepts=COIN, rounds=2, epsilon=1000.0, delta=0.02, plan=TINY)
    claimed = made.guarantee()
    subject = Subject.from_learner(made, claimed=claimed)
    curve = privacy_curve(subject, First(), rounds=2, negligible=Fraction(1, 1 << 14))
    assert curve.missing < 0.05
    low, high = curve.delta_bounds(claimed.epsilon)
    return float(low) - claimed.delta, float(high) - claimed.delta


def test_the_exact_law_of_two_rounds_keeps_the_promise() -> None:
    low, _ = certain_excess(PrivateTeachers)
    assert low <= 0


def test_a_draw_without_noise_is_noticed() -> None:
    low, _ = certain_excess(BrokenTeachers)
    assert low > 0.1


def test_it_learns_with_numbers_set_by_hand_and_goes_on_from_a_snapshot() -> None:
    plan = replace(TINY, teachers=60, mistakes=150, phases=40, draw_epsilon=4.0, draw_delta=1e-5)
    made = recipe(ls.Thresholds(7), plan, rounds=2000)
    run, mistakes = made.start(rng=seeded(3)), []
    zeros = sum(run.hypothesis(x) == 0 for x in range(7))
    target = (zeros + 3) % 8  # not what is drawn first
    stream = [(x, int(x >= target)) for x in seeded(5).below_many(7, 2000).tolist()]
    for number, (x, y) in enumerate(stream):
        mistakes.append(run.hypothesis(x) != y)
        if number == 700:
            saved = made.restore(run.snapshot())
            assert saved.hypothesis == run.hypothesis
            run = saved
        run.observe(x, y)
    assert sum(mistakes) > 0 and not any(mistakes[-500:])
    assert run.switches >= 1


def test_a_run_without_draws_left_goes_on_publishing() -> None:
    run = recipe(COIN, replace(TINY, teachers=40, phases=1, draw_epsilon=8.0)).start(rng=seeded(1))
    for number in range(100):
        run.observe(0, number % 2)
    assert run.switches == 0 and "halted" in run._engine.status


def planned(dimension: int, rounds: int = 10**5) -> TeachersPlan:
    return plan_teachers(
        dimension=dimension,
        log_growth=dimension * math.log(math.e * rounds / dimension),
        size=None,
        rounds=rounds,
        epsilon=1.0,
        delta=1e-6,
        failure_probability=0.05,
    )


def test_the_plan_is_within_the_budget_and_grows_like_a_polynomial() -> None:
    bounds = []
    for dimension in (1, 2, 4, 8, 16):
        plan = planned(dimension)
        spent = plan.guarantee(dimension=dimension, delta=1e-6)
        assert spent.within(ls.PrivacyGuarantee(epsilon=1.0, delta=1e-6))
        bounds.append(plan.mistakes_bound(failure_probability=0.05))
    assert 1e11 < bounds[0] < 2e11
    exponents = [math.log2(after / before) for before, after in pairwise(bounds)]
    assert all(4 < exponent < 9.5 for exponent in exponents)


def test_the_plan_leaves_room_for_the_bottom_of_the_real_sample() -> None:
    plan = planned(1)
    sample, rate = plan.sample(1, None), plan.draw_epsilon / 2
    assert sample.bottom <= plan.teachers / 2 - math.log(plan.phases / 0.05) / rate
    popular = plan.teachers // 2 - math.ceil(
        plan.watch().error_bound(queries=plan.phases + 2, failure_probability=0.05 / 12)
    )
    assert plan.phases * sample.none_bound(score=popular) <= 0.05 / 6


def test_the_theorem_s_forest_is_overtaken_at_once_and_the_proved_one_is_far_ahead() -> None:
    """Planned numbers: a polynomial against what doubles its exponent with d."""
    needs: Any = {"epsilon": 1.0, "delta": 1e-6, "failure_probability": 0.05}
    for dimension in (1, 2, 3, 4):
        slots = sharp_slots_upper_bound(dimension=dimension, **needs)
        forest = mistakes_upper_bound(dimension=dimension, rounds=10**5, slots=slots, **needs)
        assert planned(dimension).mistakes_bound(failure_probability=0.05) < forest
        assert forest > 2 ** (24 * 2 ** (dimension - 1))
    for dimension, size in ((1, 2), (2, 6)):
        proved = ls.LazyForest.proved(
            concepts=ls.Thresholds(size), rounds=10**15, epsilon=1.0, delta=1e-6
        )
        teachers = planned(dimension, 10**15).mistakes_bound(failure_probability=0.05)
        assert proved.mistake_bound(failure_probability=0.05) < teachers / 10**6


def test_a_bound_is_promised_only_for_what_was_planned() -> None:
    made = PrivateTeachers(concepts=POINTS, rounds=10**13, epsilon=1.0, delta=1e-6)
    assert made.mistake_bound(failure_probability=0.05) < 10**12
    assert made.mistake_bound(failure_probability=0.01) == 10**13
    assert recipe(POINTS, TINY).mistake_bound(failure_probability=0.5) == 100
    assert made.oblivious_only
    with pytest.raises(ValueError, match="plan must stay within the budget"):
        PrivateTeachers(concepts=COIN, rounds=10, epsilon=1.0, delta=0.02, plan=TINY)
    with pytest.raises(ValueError, match="at least two"):
        recipe(FiniteClass([[0, 1]]), TINY)
    with pytest.raises(ValueError, match="from_class"):
        recipe(ls.Conjunctions(2), TINY)
    assert irreducible_parts(POINTS, 0b11111, reach=1) == [0b11111]
