"""Agnostic learning by imitation: for every concept some expert says the same, save a few rounds.

An expert is a mistake-bounded learner with a list of rounds in which it is told that it errs. On
the rounds in which the learner would err on the labels of a concept h, it then follows h [BPS09].
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Generic, TypeVar

from littlestone import require
from littlestone.concepts.classes.version_spaces import subsets_up_to
from littlestone.concepts.protocols import ConceptClass, Label, Point
from littlestone.errors import HorizonExceededError
from littlestone.game.protocols import OnlineLearner, OnlineState
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import hedge_regret_upper_bound
from littlestone.theory.outwards import upwards

Number = TypeVar("Number", Fraction, float)


def corrected_at(state: OnlineState, x: Point) -> OnlineState:
    """The state after an error at ``x``; where no concept allows that, the state as it was."""
    corrected = state.after(x, 1 - state.hypothesis(x))
    return state if corrected.failed else corrected


class StateWeights(Generic[Number]):
    """The weights of all experts, added up over those that stand alike.

    Experts start with equal weight, and each round multiplies the weight of those that err by
    ``factor``. Experts that are in one state and were flipped equally often have the same choices
    left, so one number for them all is enough. With a Fraction as the factor all weights are
    exact.
    """

    def __init__(self, base: OnlineLearner, *, rounds: int, factor: Number) -> None:
        self._most, self._rounds, self._left = base.mistake_bound, rounds, rounds
        self._factor: Number = factor
        one: Number = factor**0
        self._weights: dict[tuple[OnlineState, int], Number] = {(base.start(), 0): one}

    def observe(self, x: Point, y: Label) -> None:
        """Every expert loses if it says ``1 - y``; then each of them is flipped or not."""
        grown: dict[tuple[OnlineState, int], Number] = {}
        for (state, flips), weight in self._weights.items():
            if state.hypothesis(x) != y:
                weight = weight * self._factor
            _add(grown, (state, flips), weight)
            if flips < self._most:
                _add(grown, (corrected_at(state, x), flips + 1), weight)
        self._weights = grown
        self._left -= 1

    def by_state(self) -> dict[OnlineState, Number]:
        """The weight of the experts in each state; all together began with weight 1."""
        everyone = subsets_up_to(self._rounds, self._most)
        shares = [
            Fraction(subsets_up_to(self._left, self._most - flips), everyone)
            for flips in range(self._most + 1)
        ]
        totals: dict[OnlineState, Number] = {}
        for (state, flips), weight in self._weights.items():
            _add(totals, state, weight * type(weight)(shares[flips]))
        return totals

    def rescale(self, by: Number) -> None:
        """Multiply every weight; the law stays."""
        self._weights = {key: weight * by for key, weight in self._weights.items()}


_Key = TypeVar("_Key", bound=Hashable)


def _add(totals: dict[_Key, Number], key: _Key, weight: Number) -> None:
    totals[key] = totals[key] + weight if key in totals else weight


@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticExperts:
    """Exponential weights over the experts that imitate all concepts, drawn afresh each round.

    Regret:  at most sqrt(T ln N / 2) + M in expectation, against adaptive adversaries; N experts
             with at most M flips each, M the mistake bound of ``base`` (the standard optimal
             algorithm unless given). The published hypothesis is not flipped, which costs M.
    Privacy: none.
    Source:  [BPS09].

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> recipe = AgnosticExperts(concepts=Thresholds(7), rounds=1000)
    >>> recipe.experts, round(recipe.expected_regret_bound())
    (166667501, 100)
    """

    concepts: ConceptClass
    rounds: int
    base: OnlineLearner | None = None
    _learner: OnlineLearner = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, at_least=1)
        learner = StandardOptimal(self.concepts) if self.base is None else self.base
        object.__setattr__(self, "_learner", learner)

    @property
    def experts(self) -> int:
        return subsets_up_to(self.rounds, self._learner.mistake_bound)

    @property
    def rate(self) -> float:
        """In the exponent."""
        return math.sqrt(8 * math.log(max(self.experts, 2)) / self.rounds)

    def guarantee(self) -> PrivacyGuarantee:
        return NOT_PRIVATE

    def expected_regret_bound(self) -> float:
        """In expectation, against adaptive adversaries."""
        bound = hedge_regret_upper_bound(experts=self.experts, rounds=self.rounds, rate=self.rate)
        return upwards(bound + self._learner.mistake_bound)

    def start(self, *, rng: Randomness) -> "AgnosticExpertsRun":
        return AgnosticExpertsRun(self, rng)


class AgnosticExpertsRun:
    """The weights of all states, and the hypothesis of the one that was drawn."""

    def __init__(self, recipe: AgnosticExperts, rng: Randomness) -> None:
        self._recipe, self._rng, self._left = recipe, rng, recipe.rounds
        self._weights = StateWeights(
            recipe._learner, rounds=recipe.rounds, factor=math.exp(-recipe.rate)
        )
        self.hypothesis = recipe._learner.start().hypothesis

    def observe(self, x: Any, y: Any) -> None:
        point, label = self._recipe.concepts.domain.check(x), require.label(y)
        if not self._left:
            raise HorizonExceededError(rounds=self._recipe.rounds)
        self._left -= 1
        self._weights.observe(point, label)
        totals = self._weights.by_state()
        largest = max(totals.values())
        if largest < 1e-100 or largest > 1e100:
            self._weights.rescale(1 / largest)
        # Nothing here is private, so floating point will do.
        ends = list(accumulate(totals.values()))
        dart = self._rng.below(1 << 53) * 2.0**-53 * ends[-1]
        chosen = next(state for state, end in zip(totals, ends, strict=True) if end > dart)
        self.hypothesis = chosen.hypothesis
