"""Soundness and descent of every witness system that a class claims (docs/theory/witnesses.md)."""

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
from littlestone.concepts.witness_systems import AGAIN, PLACE, CubeSystem
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
RARE = 1 / 16


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
        assert asked <= set(live) and AGAIN not in asked
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
    assert accepted <= max(most for most, _ in system.loads(0.0))
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
            key for key in system.live(state) if key not in asked and key not in (AGAIN, PLACE)
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
    most = [most + system.further(most) for most, _ in system.loads(0.0)]
    astray = system.astray(0) if hasattr(system, "astray") else 0
    assert accepted <= 1 + astray + max(most)


@every_system
def test_no_more_keys_are_false_than_the_loads_count(concepts: Any, system: Any) -> None:
    """In no state on the way, true witnesses being accepted in one order or the other.

    A false key counts unless its acceptance is only remembered.
    """
    for target in concepts.concepts():
        if getattr(target, "term", ()) is None:
            continue  # 0 everywhere: every literal is false, and n of them must go at once
        for first in (min, max):
            state, states, accepted = system.begin(), [], 0
            while asked := named(system, state, concepts, target):
                states.append((state, asked))
                key = first(asked, key=repr)
                accepted += key != PLACE
                if key == PLACE:
                    key = (PLACE, first(true_places(system, state, concepts, target)))
                state = system.after(state, key)
            states.append((state, asked))
            false = 0
            for number, (state, _) in enumerate(states):
                # A literal that is not sought may have to wait until it is the first.
                true = {key for _, asked in states[number:] for key in asked}
                wrong = set(system.live(state)) - true - {AGAIN, PLACE}
                false = max(false, sum(leads_away(system, state, key) for key in wrong))
            loads = system.loads(RARE)
            assert any(most >= accepted and risk >= false * RARE for most, risk in loads)


def leads_away(system: Any, state: Any, key: Any) -> bool:
    after = system.after(state, key)
    return after is None or system.hypothesis(after) != system.hypothesis(state)


@pytest.mark.parametrize("concepts", [Thresholds(7), Thresholds(6), Intervals(9)], ids=repr)
def test_the_second_contradiction_starts_everything_again(concepts: Any) -> None:
    system = concepts.witness_system()
    for target in concepts.concepts():
        state = system.begin()
        if PLACE in system.live(state):
            if not any(target(x) for x in concepts.domain):
                continue
            place = min(true_places(system, state, concepts, target))
            state = system.after(state, (PLACE, place))
        while asked := named(system, state, concepts, target):
            state = system.after(state, min(asked))
        for key in system.live(state):
            once = system.after(state, key)
            if once is not None and not leads_away(system, state, key):
                assert set(system.live(once)) == set(system.live(state))
                assert system.after(once, key) is None


def test_every_class_that_claims_a_system_is_here() -> None:
    built = [entry.build for entry in catalogue.CLASSES.values()]
    claiming = {kind for kind in built if hasattr(kind, "witness_system")}
    assert claiming == {type(concepts) for concepts in CLASSES}
    assert all(isinstance(concepts, Descending) for concepts in CLASSES)
    assert {type(system).__name__ for _, system in SYSTEMS} == {
        *("LiteralSystem", "CubeSystem", "ThresholdSystem", "BoxSystem", "KeySystem")
    }
    assert Points().witness_system() is None
