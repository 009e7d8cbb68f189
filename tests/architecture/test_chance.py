"""The probabilities that statistical tests rely on, against all samples of small laws."""

import itertools
import math
from collections import Counter

import pytest
from scipy import stats
from tests import chance

LAW = {0: 0.5, 1: 0.3, 2: 0.2}
OTHER = {0: 0.2, 1: 0.3, 2: 0.5}
DRAWS = 40


def samples(law: dict[int, float], draws: int) -> list[tuple[list[int], float]]:
    """Every sample up to its order, with its probability."""
    found = []
    for counts in itertools.product(range(draws + 1), repeat=2):
        last = draws - sum(counts)
        if last >= 0:
            each = (*counts, last)
            values = [value for value, count in enumerate(each) for _ in range(count)]
            share = stats.multinomial.pmf(each, draws, list(law.values()))
            found.append((values, float(share)))
    return found


def test_small_p_values_are_as_rare_as_they_say() -> None:
    found = [(chance.p_value(values, LAW), share) for values, share in samples(LAW, DRAWS)]
    assert sum(share for _, share in found) == pytest.approx(1)
    for level in {p for p, _ in found}:
        assert sum(share for p, share in found if p <= level) <= level + 1e-12


def test_a_wrong_law_is_missed_no_more_often_than_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chance, "WRONG", 0.2)
    bound = chance.miss_probability(LAW, actual=OTHER, draws=DRAWS)
    missed = sum(share for values, share in samples(OTHER, DRAWS) if chance.fits(values, LAW))
    assert 0 < missed <= bound < 0.5


def test_what_is_impossible_is_told_apart() -> None:
    assert chance.p_value([0, 1, 3], LAW) == 0
    assert chance.miss_probability(LAW, actual={0: 0.5, 3: 0.5}, draws=40) <= 2.0**-40


def test_a_sample_that_is_too_small_is_refused() -> None:
    with pytest.raises(AssertionError, match="missed with probability"):
        chance.is_told_apart([0, 1, 2] * 5, LAW, actual=OTHER)
    with pytest.raises(AssertionError, match="surely"):
        chance.differ([0, 1, 2], [2, 1, 0], laws=(LAW, OTHER), cells=LAW)


def test_two_samples_of_one_law_differ_as_seldom_as_stated() -> None:
    """Given all values together, every way to deal them out is equally likely."""
    values = [0] * 6 + [1] * 5 + [2] * 3
    deals = list(itertools.combinations(range(len(values)), 7))
    ways = Counter(tuple(sorted(values[place] for place in first)) for first in deals)
    found = []
    for first, many in ways.items():
        counts = Counter(first)
        agreement = chance._agreement(counts, Counter(values) - counts, Counter(values))
        found += [agreement] * many
    for level in set(found):
        assert sum(p <= level for p in found) <= (level + 1e-12) * len(deals)


@pytest.mark.parametrize(("trials", "probability"), [(60, 0.2), (300, 0.001), (5, 0.5)])
def test_counts_leave_their_limits_with_the_stated_probability(
    trials: int, probability: float
) -> None:
    most = chance.most_failures(trials, probability)
    assert stats.binom.sf(most, trials, probability) <= chance.WRONG
    fewest = chance.fewest_successes(trials, probability)
    assert stats.binom.cdf(fewest - 1, trials, probability) <= chance.WRONG


def test_attempts_are_as_many_as_calibrating_asks_for() -> None:
    assert 0.9**chance.ATTEMPTS <= chance.FALSE_FAILURE_PROBABILITY
    assert math.isclose(0.1**chance.CALIBRATED, chance.FALSE_FAILURE_PROBABILITY)


def test_an_attempt_may_fail_but_calibrating_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALIBRATE", raising=False)
    attempts = iter([False] * 3 + [True] * 20)
    assert chance.in_one_of_many(lambda: next(attempts))
    assert not chance.in_one_of_many(lambda: False)
    monkeypatch.setenv("CALIBRATE", "1")
    attempts = iter([True, False, True])
    assert not chance.in_one_of_many(lambda: next(attempts))
