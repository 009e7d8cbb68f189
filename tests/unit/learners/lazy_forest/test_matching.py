"""The matching of Update: its coupling by enumeration, and both ways of drawing it."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from littlestone.learners.lazy_forest.layer import random_pairs, smallest_even
from littlestone.randomness import Randomness, seeded

Matching = frozenset[frozenset[int]]


def matchings(elements: tuple[int, ...]) -> Iterator[Matching]:
    """All matchings in which at most one element (of an odd number) stays alone."""
    if len(elements) % 2:
        for alone in elements:
            yield from matchings(tuple(e for e in elements if e != alone))
        return
    if not elements:
        yield frozenset()
        return
    first, *rest = elements
    for partner in rest:
        left = tuple(e for e in rest if e != partner)
        for others in matchings(left):
            yield others | {frozenset((first, partner))}


def without(extra: int, matching: Matching, elements: tuple[int, ...]) -> Matching:
    """The coupled matching of the elements but ``extra`` (forest_table.md, Lemma)."""
    matched = {element for pair in matching for element in pair}
    alone = [element for element in elements if element not in matched]
    if alone == [extra]:
        return matching
    (mine,) = (pair for pair in matching if extra in pair)
    (partner,) = mine - {extra}
    joined = {frozenset((partner, alone[0]))} if alone else set()
    return (matching - {mine}) | joined


@pytest.mark.parametrize("count", range(2, 8))
def test_the_coupled_matching_of_one_element_less_is_uniform(count: int) -> None:
    elements = tuple(range(count))
    law = Counter(without(0, matching, elements) for matching in matchings(elements))
    assert set(law) == set(matchings(elements[1:]))
    assert len(set(law.values())) == 1


@pytest.mark.parametrize("count", range(2, 8))
def test_coupled_matchings_differ_in_one_pair_with_a_common_element(count: int) -> None:
    elements = tuple(range(count))
    for matching in matchings(elements):
        fewer = without(0, matching, elements)
        mine, other = matching - fewer, fewer - matching
        assert len(mine) <= 1 and len(other) <= 1
        if mine and other:
            (pair,), (replaced,) = mine, other
            assert pair & replaced and 0 in pair


@pytest.mark.parametrize("slots", [6, 200])
def test_pairs_sit_on_neighbouring_slots_with_the_exact_probability(
    slots: int, rng: Randomness
) -> None:
    # Two given elements of four are neighbours with probability 1 / (slots - 1); the number of
    # hits is within 7 standard deviations of its mean but for a probability below 1e-9
    # (Chernoff with the exact variance; 20,000 draws).
    draws = 20_000
    hits = sum(
        {0, 1} in [set(pair) for pair in random_pairs(4, slots=slots, rng=rng).tolist()]
        for _ in range(draws)
    )
    chance = Fraction(1, slots - 1)
    deviation = float(draws * chance * (1 - chance)) ** 0.5
    assert abs(hits - float(draws * chance)) < 7 * deviation + 10


def test_everyone_has_a_neighbour_on_just_enough_slots() -> None:
    for elements in range(8):
        pairs = random_pairs(elements, slots=smallest_even(elements), rng=seeded(elements))
        assert len(pairs) == elements // 2
        assert len(set(pairs.ravel().tolist())) == 2 * len(pairs)


@pytest.mark.parametrize("slots", [3, 5, 2])
def test_too_few_or_an_odd_number_of_slots_is_refused(slots: int) -> None:
    with pytest.raises(ValueError, match="slots must be even"):
        random_pairs(4, slots=slots, rng=seeded(1))


def test_the_work_does_not_grow_with_the_slots() -> None:
    class Counting(Randomness):
        asked = 0

        def below(self, bound: int) -> int:
            Counting.asked += 1
            return super().below(bound)

    random_pairs(100, slots=2**80, rng=Counting(seeded(1)._source))
    assert Counting.asked <= 101
