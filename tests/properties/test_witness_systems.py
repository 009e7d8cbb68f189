"""Soundness and descent of every witness system that a class claims (docs/theory/witnesses.md)."""

import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.choose import catalogue
from littlestone.concepts.capabilities import Descending
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.witness_lines import IntervalSystem, Line, Path
from littlestone.concepts.witness_systems import PLACE, CubeSystem, starts_again
from littlestone.learners.private_witnesses.recipe import systems_of

CLASSES: list[Any] = [
    Conjunctions(1), Conjunctions(3), MonotoneDisjunctions(1, 3), MonotoneDisjunctions(2, 4),
    MonotoneDisjunctions(3, 3), Thresholds(1), Thresholds(2), Thresholds(7), Thresholds(12),
    Intervals(1), Intervals(2), Intervals(7), Intervals(12),
    Boxes(1, 5), Boxes(2, 3), Boxes(3, 2), Boxes(2, 4),
    Points(1), Points(4), SparseSets(2, 5), SparseSets(3, 2),
]  # fmt: skip
SYSTEMS = [(concepts, system) for concepts in CLASSES for system in systems_of(concepts)]
every_system = pytest.mark.parametrize(
    ("concepts", "system"), SYSTEMS, ids=lambda one: repr(one) if one in CLASSES else ""
)


def named(system: Any, state: Any, concepts: Any, target: Any) -> set[Any]:
    """The witnesses that mistakes of a state name, if the labels are those of ``target``."""
    rule = system.hypothesis(state)
    wrong = [x for x in concepts.domain if rule(x) != target(x)]
    return {system.named_by(state, x, target(x)) for x in wrong}


def most_accepted(concepts: Any, system: Any, target: Any) -> int:
    literals = concepts.n if isinstance(system, CubeSystem) else 2 * getattr(concepts, "n", 0)
    return {
        "Conjunctions": lambda: 0 if target.term is None else literals - len(target.term),
        "MonotoneDisjunctions": lambda: concepts.n - sum(target.weights),
        "Thresholds": lambda: (concepts.n + 1).bit_length() - 1,
        "Intervals": lambda: system.rank,
        "Boxes": lambda: system.rank,
        "Points": lambda: len(target.positives),
        "SparseSets": lambda: len(target.positives),
    }[type(concepts).__name__]()


def true_places(system: Any, state: Any, concepts: Any, target: Any) -> set[int]:
    """Those between the first and the last place at which a mistake can lie, or in a subcube."""
    found = {system.place(state, x) for x in concepts.domain if target(x)}
    if isinstance(system, CubeSystem) or not found:
        return found
    return set(range(min(found), max(found) + 1))


@every_system
@given(data=st.data())
def test_mistakes_name_true_witnesses_which_lead_to_the_target(
    concepts: Any, system: Any, data: Any
) -> None:
    target = data.draw(st.sampled_from(list(concepts.concepts())))
    state, accepted = system.begin(), 0
    true: set[Any] = set()
    while True:
        live, asked = system.live(state), named(system, state, concepts, target)
        assert asked <= set(live) and not any(map(starts_again, asked))
        # A key keeps its meaning: whatever was true and is still live may be accepted later.
        true = (true & set(live)) | asked
        if not true:
            break
        key = data.draw(st.sampled_from(sorted(true, key=repr)))
        true.remove(key)  # if it is still live, it has to be named anew
        if key == PLACE:
            places = sorted(true_places(system, state, concepts, target))
            state = system.after(state, (PLACE, data.draw(st.sampled_from(places))))
            continue
        state = system.after(state, key)
        assert state is not None  # a true witness never contradicts the target
        accepted += 1
    assert accepted <= most_accepted(concepts, system, target)
    assert accepted <= max(load.accepted for load in system.loads())
    assert all(system.hypothesis(state)(x) == target(x) for x in concepts.domain)


@every_system
@given(data=st.data())
def test_after_a_false_witness_everything_starts_again_before_long(
    concepts: Any, system: Any, data: Any
) -> None:
    target = data.draw(st.sampled_from(list(concepts.concepts())))
    state, accepted, false = system.begin(), 0, False
    while state is not None:
        asked = named(system, state, concepts, target)
        wrong = [
            key
            for key in system.live(state)
            if key not in asked and key != PLACE and not starts_again(key)
        ]
        if PLACE in system.live(state):
            place = data.draw(st.integers(0, system.places - 1))
            false = (
                false
                or PLACE not in asked
                or place not in true_places(system, state, concepts, target)
            )
            state = system.after(state, (PLACE, place))
            continue
        if wrong and not false:
            key, false = data.draw(st.sampled_from(sorted(wrong, key=repr))), True
        elif asked:
            key = data.draw(st.sampled_from(sorted(asked, key=repr)))
        else:
            break  # right again, by luck
        state = system.after(state, key)
        accepted += 1
    most = [
        load.accepted + max(load.further, load.astray, (load.back or 0) + 1)
        for load in system.loads()
    ]
    assert accepted <= 1 + max(most)


@every_system
@given(data=st.data())
def test_no_more_keys_are_live_than_the_loads_count(concepts: Any, system: Any, data: Any) -> None:
    """Whatever is accepted: any key that nobody named may be false."""
    [counters], [again] = (
        {getattr(load, f) for load in system.loads()} for f in ("counters", "again")
    )
    state = system.begin()
    while state is not None:
        live = system.live(state)
        if PLACE not in live:
            assert sum(starts_again(key) for key in live) <= again
            assert sum(not starts_again(key) for key in live) <= counters
        key = data.draw(st.sampled_from(live))
        if key == PLACE:
            key = (PLACE, data.draw(st.integers(0, system.places - 1)))
        state = system.after(state, key) if data.draw(st.integers(0, 9)) else None


LINES = [
    Line(size, Line.of(size).steps + more) for size in (*range(1, 34), 63, 127) for more in (0, 1)
]

SIDES = (False, True)  # smaller, larger


@pytest.mark.parametrize(
    "line",
    [pytest.param(one, marks=pytest.mark.slow) if one.size > 63 else one for one in LINES],
    ids=lambda one: f"{one.size}-{one.steps}",
)
def test_a_false_step_costs_what_is_proved(line: Line) -> None:
    """For every place sought, in every state that can be reached (algorithm.md, "Lines")."""
    states, new = {line.begin()}, [line.begin()]
    while new:
        path = new.pop()
        found = {line.after(path, larger) for larger in SIDES} - {None} - states
        states |= found  # type: ignore[arg-type]
        new += found  # type: ignore[arg-type]
    assert len(states) == line.size and max(map(len, states)) <= line.steps + 1
    known = {
        path: (
            line.middle(path),
            [(line.after(path, to), line.contradicts(path, to)) for to in SIDES],
        )
        for path in states
    }

    @cache  # each state is also what others lead to
    def steps(path: Path, target: int) -> tuple[int, int]:
        """How many witnesses and contradictions are named, if none that is false is accepted."""
        middle, sides = known[path]
        if middle == target:
            return 0, 0
        after, contradicts = sides[target > middle]
        assert after is not None
        witnesses, contradictions = steps(after, target)
        return witnesses + (not contradicts), contradictions + contradicts

    for target in range(line.size):
        assert steps(line.begin(), target) <= (line.steps, 0)
        for path, (middle, sides) in known.items():
            now = steps(path, target)
            own = middle != target and not sides[target > middle][1]
            for larger, (beyond, contradicts) in zip(SIDES, sides, strict=True):
                if middle != target and larger == (target > middle):
                    continue  # true
                after = steps(beyond or line.begin(), target)
                extra = own + after[0] - now[0]
                if contradicts:
                    assert extra <= line.steps and after[1] <= now[1]
                else:
                    assert extra <= line.edge and after[1] <= now[1] + 1


@every_system
def test_one_class_has_one_system_so_that_it_is_planned_once(concepts: Any, system: Any) -> None:
    again = copy.deepcopy(concepts)
    assert system in systems_of(again) and hash(system) in map(hash, systems_of(again))


@pytest.mark.parametrize("n", [1, 2, 3, 9, 20, 64, 100])
def test_every_point_of_an_interval_has_a_load(n: int) -> None:
    system = Intervals(n).witness_system()
    longest = max(load.back for load in system.loads() if load.back)
    for p in range(n):
        lines = system._lines(p)
        assert [line.size for line in lines] == [p + 1, n - p]
        assert sum(line.steps for line in lines) == system.rank
        assert max(line.edge for line in lines) <= longest


def test_a_false_point_is_given_up_in_the_end() -> None:
    system = IntervalSystem(8, Intervals(8).witness_system().rule)
    state, accepted = system.after((), (PLACE, 0)), 0
    while state is not None:  # 0 and 1 are shown on the same side
        key = system.live(state)[2 + accepted % 2]
        state, accepted = system.after(state, key), accepted + 1
    assert accepted <= system.loads()[0].astray


def test_every_class_that_claims_a_system_is_here() -> None:
    built = [entry.build for entry in catalogue.CLASSES.values()]
    claiming = {kind for kind in built if hasattr(kind, "witness_system")}
    assert claiming == {type(concepts) for concepts in CLASSES}
    assert all(isinstance(concepts, Descending) for concepts in CLASSES)
    assert {type(system).__name__ for _, system in SYSTEMS} == {
        *("LiteralSystem", "CubeSystem", "ThresholdSystem", "IntervalSystem"),
        *("BoxSystem", "KeySystem"),
    }
    assert Points().witness_system() is None
