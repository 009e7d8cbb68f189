"""Key sets share storage and stay values; keys have one order and survive JSON."""

import json
import pickle
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import KeySet, key_from_json, key_order, key_set, key_to_json

KEYS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.fractions()
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6))))
def test_growing_from_any_earlier_set_gives_the_right_set(steps: list[tuple[int, int]]) -> None:
    versions: list[tuple[KeySet[int], set[int]]] = [(KeySet(), set())]
    for start, key in steps:
        grown, expected = versions[start % len(versions)]
        versions.append((grown.adding(key), expected | {key}))
    for grown, expected in versions:
        assert set(grown) == expected and len(grown) == len(expected)
        assert all((key in grown) == (key in expected) for key in range(8))
        assert grown == key_set(sorted(expected))
        assert hash(grown) == hash(key_set(sorted(expected)))
        assert pickle.loads(pickle.dumps(grown)) == grown
    for grown, expected in versions:
        for other, other_expected in versions:
            assert (grown == other) == (expected == other_expected)


def test_growing_a_line_of_sets_copies_nothing() -> None:
    line = KeySet[int]()
    for key in range(100_000):
        line = line.adding(key)
    assert len(line) == 100_000 and line.adding(5) is line


@given(KEYS)
def test_keys_survive_json(key: Any) -> None:
    read = key_from_json(json.loads(json.dumps(key_to_json(key))))
    assert read == key and hash(read) == hash(key)


@given(st.lists(KEYS, max_size=5), st.data())
def test_the_order_of_keys_is_total_and_equal_keys_have_one_place(
    keys: list[Any], data: st.DataObject
) -> None:
    ordered = sorted(keys, key=key_order)
    shuffled = data.draw(st.permutations(keys))
    assert sorted(shuffled, key=key_order) == ordered
    for left, right in pairwise(ordered):
        assert (key_order(left) == key_order(right)) == (left == right)


@pytest.mark.parametrize("bad", [object(), range(3), 1j, {"a": 1}])
def test_keys_without_a_json_form_are_refused_by_name(bad: Any) -> None:
    with pytest.raises(ValueError, match="must be made of"):
        key_to_json(bad)


@pytest.mark.parametrize(
    "bad",
    [
        [1],
        {},
        {"tuple": 1},
        {"bytes": "zz"},
        {"set": []},
        {"tuple": [], "bytes": ""},
        {"float": "nan"},
        {"fraction": "1/0"},
        float("inf"),
        {"tuple": [[1]]},
    ],
)
def test_malformed_keys_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="must be what key_to_json returned"):
        key_from_json(bad)


def test_equal_numbers_are_one_key_in_json() -> None:
    assert FiniteSupport.on(1, 2.5).to_json() == FiniteSupport.on(True, Fraction(5, 2)).to_json()


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_json_and_disagreements_do_not_depend_on_the_hash_seed(seed: str) -> None:
    program = (
        "from littlestone.concepts.hypotheses.support import FiniteSupport as F;"
        "h = F.on('b', 'a', ('x', 1), frozenset({'p'}), 7);"
        "print(h.to_json(), h.disagreement(F.on('c')), h.describe())"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == (
        "{'kind': 'support', 'positives': [7, 'a', 'b', {'tuple': ['x', 1]}, "
        "{'frozenset': ['p']}]} 7 1 on 7, 'a', 'b', ('x', 1), frozenset({'p'}), 0 elsewhere\n"
    )


@pytest.mark.parametrize("key", [("user", 7), "seven", 7])
@pytest.mark.parametrize(
    "places", [[], [0], [99], [0, 99], [3, 4, 5], range(6), range(7), range(100)]
)
def test_a_rule_finds_its_key_in_a_list_however_often_it_is_there(key: Any, places: Any) -> None:
    points: list[Any] = [("user", i + 100) for i in range(100)]
    for place in places:
        points[place] = key
    for rule in (FiniteSupport.on(key), FiniteSupport.on(key, "another")):
        assert rule.many(points).tolist() == [rule(x) for x in points]


def test_a_list_with_what_cannot_be_compared_is_not_taken_for_one_without_the_key() -> None:
    with pytest.raises((TypeError, ValueError)):
        FiniteSupport.on(("user", 7)).many([*range(40), np.zeros(2), ("user", 7)])
