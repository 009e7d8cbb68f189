"""All constructed experts at once: how much of them stands where, and with which losses.

An expert follows a base learner. At public switch times it may be told that it errs on a released
point of the interval since its last switch; at most ``most_switches`` times. There are far too
many to list. But experts that share the learner's state, the last switch and the number of
switches have the same future, so one table for them all is enough: loss so far -> prior mass.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from littlestone.concepts.protocols import Hypothesis, Point
from littlestone.learners.codec import register
from littlestone.learners.sanitized_experts.expert_losses import PredictorLosses
from littlestone.online.agnostic_experts import subsets_up_to
from littlestone.online.protocols import OnlineLearner, OnlineState

SLOT_BITS: Final = 32
_SLOTS: Final = 1 << SLOT_BITS
_MEMO_ENTRIES: Final = 1 << 16

Released = Callable[[int, int], Sequence[Point]]
"""The released points of blocks ``first`` to ``last``."""
Masses = dict[int, int]
"""Prior mass by loss; losses are counted from that of the group's predictor."""


class Place(NamedTuple):
    """Where experts stand: the learner's state, the last switch, the switches behind them.

    Places from which nothing can change any more have ``used`` equal to the most switches and
    ``last`` equal to 0.
    """

    state: OnlineState | None
    """None once the learner was contradicted: then it says what it began with."""
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
"""Where experts stand after a switch time: the number of each group, and the group."""


def shares_of(count: int) -> list[int]:
    """Whole slots for each of ``count`` points, as equal as can be, 2**SLOT_BITS in all."""
    each, more = divmod(_SLOTS, count)
    return [each + (number < more) for number in range(count)]


@dataclass(init=False, eq=False, repr=False)
class Paths:
    """The groups of all experts, from the first round on.

    An expert is a set of at most ``most_switches`` of the ``switch_times`` switch times, each
    with one of 2**SLOT_BITS slots, all equally likely beforehand. At each of its switch times
    the slots are shared by the released points (``shares_of``), one of which the expert takes.
    """

    passed: int
    """Switch times so far."""
    full: bool
    """Whether the limit on the number of groups was reached; then nothing branches."""
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
        """What the experts of a group predict."""
        return self._losses.hypothesis(self.groups[number].predictor)

    def elements(self, past: Mapping[int, int]) -> Iterator[tuple[int, int, int, int]]:
        """For each group and loss: the group's number, its predictor, the loss, the mass.

        ``past`` has the losses of the predictors. The mass counts the whole experts, with the
        switches that are yet to come.
        """
        factors = [self._completions(used) for used in range(self._most + 1)]
        for number, group in enumerate(self.groups):
            factor, lost = factors[group.place.used], past[group.predictor]
            for offset, mass in group.masses.items():
                yield number, group.predictor, offset + lost, mass * factor

    def losses_now(self) -> dict[int, int]:
        """The losses of all predictors up to now."""
        return {group.predictor: self._losses.of(group.predictor) for group in self.groups}

    def everyone(self) -> int:
        """The mass of all experts."""
        return subsets_up_to(self._times, self._most) << (SLOT_BITS * self._most)

    def branch(self, released: Released) -> dict[int, list[int]]:
        """A switch time: some experts stay where they are, some take a released point.

        Returns for each old group the number of the new group of those who stay and, if some do
        not, one for each point that they may take, in ``shares_of`` order.
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
        """Where the experts of an old group are now, and how many of them, in proportion.

        ``moves`` is its entry in what ``branch`` returned, ``used`` the switches that it had
        behind it.
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
        """The groups of those who switch now, one entry for each released point."""
        state, last, used = group.place
        points = released(last + 1, self.passed)
        if state is None or not points:  # nothing to be told: the switch is spent for nothing
            moved = [(Place(state, last, used + 1), _SLOTS)]
        else:
            told = [self._told_wrong(state, x) for x in points]
            places = [Place(state, self.passed, used + 1) for state in told]
            moved = list(zip(places, shares_of(len(points)), strict=True))
        chosen = []
        for place, share in moved:
            settled = self._settled(place)
            scale = share * self._scale(place, settled)
            chosen.append(self._move(met, settled, group, scale))
        return chosen

    def _stop(self) -> dict[int, list[int]]:
        """No more branching: every expert stays where it is, for good."""
        self.full = True
        self.passed -= 1  # the experts' choices from this switch time on do not matter any more
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
        """The same place, or its one form if no expert there can ever move again."""
        stuck = place.state is None or bool(getattr(place.state, "exhausted", False))
        if place.used >= self._most or self.passed >= self._times or stuck:
            return Place(place.state, 0, self._most)
        return place

    def _scale(self, before: Place, after: Place) -> int:
        """What a mass is multiplied by when its experts are no longer told apart by the future."""
        return self._completions(before.used) if after.used != before.used else 1

    def _completions(self, used: int) -> int:
        """How many experts continue each beginning with ``used`` switches, slots included."""
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

    def _told_wrong(self, state: OnlineState, x: Point) -> OnlineState | None:
        """The state after an error at ``x``; None if no concept allows that."""
        if (state, x) not in self._children:
            if len(self._children) >= _MEMO_ENTRIES:
                self._children.clear()
            told = state.after(x, 1 - state.hypothesis(x))
            self._children[state, x] = None if told.failed else told
        return self._children[state, x]
