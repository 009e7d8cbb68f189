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
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.witnesses.systems import AGAIN, PLACE

CLASSES: list[Any] = [
    Conjunctions(1), Conjunctions(3), MonotoneDisjunctions(1, 3), MonotoneDisjunctions(2, 4),
    MonotoneDisjunctions(3, 3), Thresholds(1), Thresholds(2), Thresholds(7), Thresholds(12),
    Intervals(1), Intervals(2), Intervals(7), Intervals(12),
    Boxes(1, 5), Boxes(2, 3), Boxes(3, 2), Boxes(2, 4),
]  # fmt: skip


def named(system: Any, state: Any, concepts: Any, target: Any) -> set[Any]:
    """The witnesses that mistakes of a state name, if the labels are those of ``target``."""
    rule = system.hypothesis(state)
    wrong = [x for x in concepts.domain if rule(x) != target(x)]
    return {system.named_by(state, x, target(x)) for x in wrong}


def most_accepted(concepts: Any, target: Any) -> int:
    return {
        "Conjunctions": lambda: 0 if target.term is None else 2 * concepts.n - len(target.term),
        "MonotoneDisjunctions": lambda: concepts.n - sum(target.weights),
        "Thresholds": lambda: (concepts.n + 1).bit_length() - 1,
        "Intervals": lambda: concepts.witness_system().rank,
        "Boxes": lambda: concepts.witness_system().rank,
    }[type(concepts).__name__]()


def true_places(system: Any, state: Any, concepts: Any, target: Any) -> set[int]:
    """Those between the first and the last place at which a mistake can lie."""
    found = [system.place(state, x) for x in concepts.domain if target(x)]
    return set(range(min(found), max(found) + 1))


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@given(data=st.data())
def test_mistakes_name_true_witnesses_which_lead_to_the_target(concepts: Any, data: Any) -> None:
    system = concepts.witness_system()
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
    assert accepted <= most_accepted(concepts, target)
    assert accepted <= max(most for most, _ in system.loads(0.0))
    assert all(system.hypothesis(state)(x) == target(x) for x in concepts.domain)


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
@given(data=st.data())
def test_after_a_false_witness_everything_starts_again_before_long(
    concepts: Any, data: Any
) -> None:
    system = concepts.witness_system()
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
    assert accepted <= 2 + max(most for most, _ in system.loads(0.0))


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_no_more_keys_are_false_than_the_loads_count(concepts: Any) -> None:
    """In no state on the way, true witnesses being accepted in one order or the other."""
    system = concepts.witness_system()
    for target in concepts.concepts():
        if getattr(target, "term", ()) is None:
            continue  # 0 everywhere: every literal is false, and n of them must go at once
        accepted = most_accepted(concepts, target)
        counted = max(risk for most, risk in system.loads(1.0) if most >= accepted)
        for first in (min, max):
            state, states = system.begin(), []
            while asked := named(system, state, concepts, target):
                states.append((set(system.live(state)), asked))
                key = first(asked, key=repr)
                if key == PLACE:
                    key = (PLACE, first(true_places(system, state, concepts, target)))
                state = system.after(state, key)
            states.append((set(system.live(state)), asked))
            for number, (live, _) in enumerate(states):
                # A literal that is not sought may have to wait until it is the first.
                true = {key for _, asked in states[number:] for key in asked}
                assert len(live - true - {AGAIN, PLACE}) <= counted


def test_every_class_that_claims_a_system_is_here() -> None:
    built = [entry.build for entry in catalogue.CLASSES.values()]
    claiming = {kind for kind in built if hasattr(kind, "witness_system")}
    assert claiming == {type(concepts) for concepts in CLASSES}
    assert all(isinstance(concepts, Descending) for concepts in CLASSES)
