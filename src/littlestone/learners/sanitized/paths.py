"""All constructed experts at once: the prior mass of those in each state, by loss.

An expert follows a base learner. At up to ``most_switches`` public switch times it feeds the
learner a mistake on a point that was released since its last switch. There are far too many experts
to list. But experts that share the learner's state, the last switch and the number of switches have
the same future, so one table is enough for them: loss so far -> prior mass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from littlestone.concepts.classes.version_spaces import subsets_up_to
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.game.protocols import OnlineLearner, OnlineState
from littlestone.learners.codec import register

_BLOCK_FASTER: Final = 24  # from this many rounds on, evaluating a block is faster


@register
@dataclass(slots=True)
class Predictor:
    """A predictor and its mistakes in the rounds before ``counted``."""

    hypothesis: Hypothesis
    loss: int
    counted: int


@dataclass(init=False, eq=False, repr=False)
class PredictorLosses:
    """The mistakes of each known predictor since it became known, counted on demand.

    Rounds are kept until the mistakes of all predictors in them are counted.

    >>> from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
    >>> losses = PredictorLosses(Thresholds(8).domain)
    >>> low = losses.number_of(ThresholdHypothesis(8, 2))
    >>> losses.add(5, 0)
    >>> high = losses.number_of(ThresholdHypothesis(8, 6))
    >>> losses.add(3, 0)
    >>> losses.of(low), losses.of(high)
    (2, 0)
    """

    _xs: list[Point]
    _ys: list[Label]
    _known: dict[int, Predictor]
    _next: int

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._xs, self._ys, self._known, self._next = [], [], {}, 0
        self._numbers: dict[Hypothesis, int] = {}

    def add(self, x: Point, y: Label) -> None:
        """Add one round."""
        self._xs.append(x)
        self._ys.append(y)

    def number_of(self, hypothesis: Hypothesis) -> int:
        """Return the predictor's number; a new predictor has no mistakes."""
        number = self._numbers.get(hypothesis)
        if number is None:
            number, self._next = self._next, self._next + 1
            self._numbers[hypothesis] = number
            self._known[number] = Predictor(hypothesis, 0, len(self._xs))
        return number

    def hypothesis(self, number: int) -> Hypothesis:
        """Return the predictor with this number, always the same object."""
        return self._known[number].hypothesis

    def of(self, number: int) -> int:
        """Return the mistakes of one predictor so far."""
        known, last = self._known[number], len(self._xs)
        if known.counted < last:
            known.loss += self._mistakes(known.hypothesis, known.counted)
            known.counted = last
        return known.loss

    def settle(self) -> None:
        """Count for all predictors and forget the rounds."""
        for number, known in self._known.items():
            self.of(number)
            known.counted = 0
        self._xs.clear()
        self._ys.clear()

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all predictors but these."""
        wanted = frozenset(numbers)
        for number in [n for n in self._known if n not in wanted]:
            del self._numbers[self._known.pop(number).hypothesis]

    def loaded(self) -> None:
        """Rebuild the index of numbers."""
        self._numbers = {known.hypothesis: number for number, known in self._known.items()}

    def _mistakes(self, hypothesis: Hypothesis, first: int) -> int:
        if len(self._xs) - first < _BLOCK_FASTER:
            pairs = zip(self._xs[first:], self._ys[first:], strict=True)
            return sum(hypothesis(x) != y for x, y in pairs)
        block = self._domain.check_many(self._xs[first:])
        labels = np.array(self._ys[first:], dtype=np.uint8)
        return int(np.count_nonzero(hypothesis.many(block) != labels))


SLOT_BITS: Final = 32
_SLOTS: Final = 1 << SLOT_BITS
_MEMO_ENTRIES: Final = 1 << 16

Released = Callable[[int, int], Sequence[Point]]
"""Returns the released points of blocks ``first`` to ``last``."""
Masses = dict[int, int]
"""Prior mass by loss, relative to the loss of the group's predictor."""


class Place(NamedTuple):
    """What experts with one future share: learner state, last switch, number of switches.

    A place from which nothing can change has ``used`` equal to the most switches and ``last`` equal
    to 0.
    """

    state: OnlineState | None
    """None after a contradiction; the expert then predicts as in the beginning."""
    last: int
    used: int


register(Place, tuple, Place)


@register
@dataclass(slots=True)
class Group:
    """The experts at one place."""

    place: Place
    predictor: int
    masses: Masses


Met = dict[Place, tuple[int, Group]]
"""The groups after a switch time, by place, with their numbers."""


def shares_of(count: int) -> list[int]:
    """Divide 2**SLOT_BITS slots among ``count`` points, as evenly as possible."""
    each, more = divmod(_SLOTS, count)
    return [each + (number < more) for number in range(count)]


@dataclass(init=False, eq=False, repr=False)
class Paths:
    """The groups of all experts, from the first round on.

    An expert is a set of at most ``most_switches`` of the ``switch_times`` switch times, each with
    one of 2**SLOT_BITS slots, all equally likely a priori. At each of its switch times the released
    points share the slots (``shares_of``), and the expert takes the point of its slot.
    """

    passed: int
    """The number of past switch times."""
    full: bool
    """Whether the limit on groups was reached; then nothing branches any more."""
    groups: list[Group]

    def __init__(
        self,
        base: OnlineLearner,
        losses: PredictorLosses,
        *,
        switch_times: int,
        most_switches: int,
        most_groups: int,
    ) -> None:
        self._base, self._losses = base, losses
        self._times, self._most, self._limit = switch_times, most_switches, most_groups
        self._fallback = base.start().hypothesis
        self.passed, self.full = 0, False
        start = Place(base.start(), 0, 0)
        place = self._settled(start)
        self.groups = [self._group(place)]
        self.groups[0].masses[0] = self._scale(start, place)
        self._children: dict[tuple[OnlineState, Point], OnlineState | None] = {}

    @property
    def finished(self) -> bool:
        """Whether no expert will ever switch again."""
        return self.full or self.passed >= self._times

    def hypothesis(self, number: int) -> Hypothesis:
        """Return what the experts of a group predict."""
        return self._losses.hypothesis(self.groups[number].predictor)

    def elements(self, past: Mapping[int, int]) -> Iterator[tuple[int, int, int, int]]:
        """Yield (group number, predictor, loss, mass) for each group and loss.

        The mass counts whole experts, including their future switches.

        Args:
            past: The losses of the predictors.
        """
        factors = [self._completions(used) for used in range(self._most + 1)]
        for number, group in enumerate(self.groups):
            factor, lost = factors[group.place.used], past[group.predictor]
            for offset, mass in group.masses.items():
                yield number, group.predictor, offset + lost, mass * factor

    def losses_now(self) -> dict[int, int]:
        """Return the losses of all predictors so far."""
        return {group.predictor: self._losses.of(group.predictor) for group in self.groups}

    def everyone(self) -> int:
        """Return the mass of all experts."""
        return subsets_up_to(self._times, self._most) << (SLOT_BITS * self._most)

    def branch(self, released: Released) -> dict[int, list[int]]:
        """Apply a switch time: some experts stay, others take a released point.

        Returns:
            For each old group the number of the new group of those who stay and, if some switch,
                one for each point they may take, in ``shares_of`` order.
        """
        self.passed += 1
        met: Met = {}
        moves: dict[int, list[int]] = {}
        for number, group in enumerate(self.groups):
            if len(met) > self._limit:
                return self._stop()
            place = self._settled(group.place)
            scale = self._scale(group.place, place)
            moves[number] = [self._move(met, place, group, scale)]
            if group.place.used < self._most:
                moves[number] += self._switch(met, group, released)
        self.groups = [group for _, group in met.values()]
        return moves

    def continuations(self, moves: Sequence[int], used: int) -> list[tuple[int, int]]:
        """Return where the experts of an old group are, with proportional numbers of them.

        Args:
            moves: The group's entry in the result of ``branch``.
            used: The number of switches that the group had used.
        """
        stay, *others = moves
        if not others:
            return [(stay, 1)]
        left = self._times - self.passed
        staying = subsets_up_to(left, self._most - used)
        leaving = subsets_up_to(left, self._most - used - 1)
        shares = zip(others, shares_of(len(others)), strict=True)
        return [(stay, staying * _SLOTS), *((child, leaving * share) for child, share in shares)]

    def _switch(self, met: Met, group: Group, released: Released) -> list[int]:
        """Move the experts that switch now; return one group number for each released point."""
        state, last, used = group.place
        points = released(last + 1, self.passed)
        if state is None or not points:  # no released point: the switch has no effect
            moved = [(Place(state, last, used + 1), _SLOTS)]
        else:
            corrected = [self._corrected(state, x) for x in points]
            places = [Place(state, self.passed, used + 1) for state in corrected]
            moved = list(zip(places, shares_of(len(points)), strict=True))
        chosen = []
        for place, share in moved:
            settled = self._settled(place)
            scale = share * self._scale(place, settled)
            chosen.append(self._move(met, settled, group, scale))
        return chosen

    def _stop(self) -> dict[int, list[int]]:
        """Stop branching: every expert stays where it is."""
        self.full = True
        self.passed -= 1  # choices from this switch time on do not matter
        met: Met = {}
        moves = {}
        for number, group in enumerate(self.groups):
            place = Place(group.place.state, 0, self._most)
            scale = self._scale(group.place, place)
            moves[number] = [self._move(met, place, group, scale)]
        self.passed += 1
        self.groups = [group for _, group in met.values()]
        return moves

    def _settled(self, place: Place) -> Place:
        """Return the place, or its final form if no expert there can move again."""
        stuck = place.state is None or bool(getattr(place.state, "exhausted", False))
        if place.used >= self._most or self.passed >= self._times or stuck:
            return Place(place.state, 0, self._most)
        return place

    def _scale(self, before: Place, after: Place) -> int:
        """Return the factor for a mass whose experts no longer differ in their future."""
        return self._completions(before.used) if after.used != before.used else 1

    def _completions(self, used: int) -> int:
        """Return how many experts continue a start with ``used`` switches, slots included."""
        left = self._most - used
        return subsets_up_to(self._times - self.passed, left) << (SLOT_BITS * left)

    def _move(self, met: Met, place: Place, source: Group, scale: int) -> int:
        """Add the experts of ``source``, with their losses, to the group at ``place``."""
        if place not in met:
            met[place] = len(met), self._group(place)
        number, target = met[place]
        shift = self._losses.of(source.predictor) - self._losses.of(target.predictor)
        masses = target.masses
        for offset, mass in source.masses.items():
            loss = offset + shift
            masses[loss] = masses.get(loss, 0) + mass * scale
        return number

    def _group(self, place: Place) -> Group:
        return Group(place, self._losses.number_of(self._predicts(place.state)), {})

    def _predicts(self, state: OnlineState | None) -> Hypothesis:
        return self._fallback if state is None else state.hypothesis

    def _corrected(self, state: OnlineState, x: Point) -> OnlineState | None:
        """Return the state after an error at ``x``; None if no concept allows that."""
        if (state, x) not in self._children:
            if len(self._children) >= _MEMO_ENTRIES:
                self._children.clear()
            corrected = state.after(x, 1 - state.hypothesis(x))
            self._children[state, x] = None if corrected.failed else corrected
        return self._children[state, x]
