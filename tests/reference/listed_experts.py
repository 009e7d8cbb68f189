"""The experts of [BPS09] one by one: a mistake-bounded learner and the rounds in which it is told
that it errs. The library adds up their weights without listing them.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.reference.agnostic_experts import corrected_at

from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.game.protocols import OnlineLearner, OnlineState

Flips = frozenset[int]
"""The rounds, counted from 1, in which an expert is told that it errs."""


def expert_states(base: OnlineLearner, flips: Flips, xs: Sequence[Point]) -> Iterator[OnlineState]:
    """The expert with these flips, as it stands before each point."""
    state = base.start()
    for round_number, x in enumerate(xs, start=1):
        yield state
        if round_number in flips:
            state = corrected_at(state, x)


def expert_labels(base: OnlineLearner, flips: Flips, xs: Sequence[Point]) -> list[Label]:
    """What the expert says if it sees each point first: in its flips, not what the learner says."""
    before = zip(expert_states(base, flips, xs), xs, strict=True)
    return [state.hypothesis(x) ^ (t in flips) for t, (state, x) in enumerate(before, start=1)]


def imitating_flips(base: OnlineLearner, concept: Hypothesis, xs: Sequence[Point]) -> Flips:
    """The rounds in which ``base`` errs if ``concept`` labels the points; only mistakes count.

    The expert with these flips says what the concept says in every round, and there are at most
    ``base.mistake_bound`` of them.

    >>> from littlestone.concepts.classes.thresholds import Thresholds, ThresholdHypothesis
    >>> from littlestone.learners.online.standard_optimal import StandardOptimal
    >>> base = StandardOptimal(Thresholds(7))
    >>> concept, xs = ThresholdHypothesis(7, 5), [0, 3, 6, 4, 5]
    >>> flips = imitating_flips(base, concept, xs)
    >>> sorted(flips), expert_labels(base, flips, xs) == [concept(x) for x in xs]
    ([4, 5], True)
    """
    state, flips = base.start(), set()
    for round_number, x in enumerate(xs, start=1):
        if state.hypothesis(x) != concept(x):
            flips.add(round_number)
            state = state.after(x, concept(x))
    return frozenset(flips)


def all_flips(rounds: int, most: int) -> Iterator[Flips]:
    """The index sets of all experts."""
    for count in range(min(rounds, most) + 1):
        for chosen in combinations(range(1, rounds + 1), count):
            yield frozenset(chosen)
