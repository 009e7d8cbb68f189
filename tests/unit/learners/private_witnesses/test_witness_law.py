"""The theorem of private_witnesses/recipe.md by exact laws; the engine against the plain one."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.reference.plain_witnesses import PlainWitnesses, plain_depth

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import NOTHING, UNIT
from littlestone.audit.exact.tape import Law, law_of
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.witness_systems import AGAIN, PLACE, starts_again
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses, systems_of

Example = tuple[Any, int]
View = tuple[tuple[Any, ...], ...]
"""For each round the keys that fired, and the place that was drawn: more than is published."""
NOISES = np.arange(120)


@dataclass(frozen=True)
class Counter:
    count: int
    weights: np.ndarray
    """The joint probability of each threshold noise and of what was seen so far."""


@dataclass(frozen=True)
class Model:
    """The mechanism on the first state of a class, and what a broken one does otherwise."""

    concepts: Any
    query_rate: float = 0.7
    threshold_rate: float = 0.3
    threshold: int = 4
    again: int = 3
    place_rate: float = 0.5
    place_threshold: int = 4
    selection_rate: float = 0.5
    only_when_named: bool = False
    every_literal: bool = False
    kept: bool = False
    """Whether a counter that fired goes on when its key is live again."""
    placed: bool = False

    @property
    def system(self) -> Any:
        return systems_of(self.concepts)[-1 if self.placed else 0]

    def fresh(self, key: Any) -> Counter:
        rate = self.place_rate if key == PLACE else self.threshold_rate
        return Counter(0, -math.expm1(-rate) * np.exp(-rate * NOISES))

    def fires(self, key: Any, counter: Counter) -> np.ndarray:
        threshold = self.again if starts_again(key) else self.threshold
        threshold = self.place_threshold if key == PLACE else threshold
        rate = self.place_rate if key == PLACE else self.query_rate
        gaps = np.maximum(threshold + NOISES - counter.count, 0)
        return np.asarray(np.exp(-rate * gaps))

    def drawn(self, places: tuple[int, ...]) -> list[float]:
        """The law of the place."""
        system = self.system
        depths = [plain_depth(system, p, places) for p in range(system.places)]
        weights = np.exp(self.selection_rate * np.array(depths))
        return [float(share) for share in weights / weights.sum()]

    def named(self, state: Any, x: Any, y: int) -> list[Any]:
        system = self.system
        if system.hypothesis(state)(x) == y:
            return []
        first = system.named_by(state, x, y)
        if not self.every_literal or first == AGAIN:
            return [first]
        literals = enumerate(system.literals)
        return [i for i, (f, v) in literals if state >> i & 1 and x[f] != v]


def views(
    model: Model, play: Callable[[View], Example], rounds: int, counts: dict[Any, Any]
) -> dict[View, float]:
    """The exact law of which counters fire, from counts to start with, or places."""
    system, found = model.system, {}

    def go_on(
        view: View,
        mass: float,
        state: Any,
        counters: dict[Any, Counter],
        places: tuple[int, ...],
        kept: dict[Any, Counter],
    ) -> None:
        if len(view) == rounds:
            found[view] = mass * math.prod(float(c.weights.sum()) for c in counters.values())
            return
        x, y = play(view)
        named = model.named(state, x, y)
        if PLACE in named:
            places = (*places, system.place(state, x))
        counters = {key: replace(c, count=c.count + (key in named)) for key, c in counters.items()}
        awake = [key for key in sorted(counters) if not model.only_when_named or key in named]
        for fired in subsets(awake):
            odds, after, following, kept = mass, {}, state, dict(kept)
            for key, counter in counters.items():
                fires = model.fires(key, counter) if key in awake else np.zeros(len(NOISES))
                weights = counter.weights * (fires if key in fired else 1 - fires)
                if key in fired:
                    odds *= float(weights.sum())
                    kept[key] = replace(counter, weights=weights / weights.sum())
                else:
                    after[key] = replace(counter, weights=weights)
            if odds < 1e-15:
                continue
            if PLACE in fired:
                for place, share in enumerate(model.drawn(places)):
                    there = system.after(state, (PLACE, place))
                    begun = {key: model.fresh(key) for key in system.live(there)}
                    go_on((*view, (place,)), odds * share, there, begun, (), {})
                continue
            for key in fired:
                if key in system.live(following):
                    following = system.after(following, key)
                if following is None:
                    lost = math.prod(float(c.weights.sum()) for c in after.values())
                    following, odds, after = system.begin(), odds * lost, {}
                    break
            gone = [after[key] for key in after if key not in system.live(following)]
            odds *= math.prod(float(c.weights.sum()) for c in gone)
            known = {**kept, **after} if model.kept else after
            going = {key: known.get(key) or model.fresh(key) for key in system.live(following)}
            go_on((*view, tuple(fired)), odds, following, going, places, kept)

    state = counts.get("state", system.begin())
    places = counts.get("places", ())
    counts = {PLACE: len(places), **counts}
    start = {key: replace(model.fresh(key), count=counts.get(key, 0)) for key in system.live(state)}
    go_on((), 1.0, state, start, places, {})
    return found


def subsets(keys: list[Any]) -> Iterator[tuple[Any, ...]]:
    for size in range(len(keys) + 1):
        yield from itertools.combinations(keys, size)


def largest_ratio(
    model: Model,
    pair: tuple[Example, Example],
    after: Callable[[View], Example],
    rounds: int,
    counts: dict[Any, Any],
) -> float:
    """ln of the largest ratio of a view's probabilities, if the first round is the special one."""
    laws = [
        views(model, lambda view, e=e: after(view) if view else e, rounds, counts)  # type: ignore[misc]
        for e in pair
    ]
    assert sum(laws[0].values()) == pytest.approx(1.0, abs=1e-7)
    both = [view for view in laws[0] if laws[0][view] > 1e-11 or laws[1].get(view, 0) > 1e-11]
    return max(abs(math.log(laws[0][v] / laws[1][v])) for v in both)


def adversary(seed: int, points: list[Any]) -> Callable[[View], Example]:
    """Random and adaptive."""

    def play(view: View) -> Example:
        drawn = np.random.default_rng([seed, *repr(view).encode()])
        return points[drawn.integers(len(points))], int(drawn.integers(2))

    return play


def found(concepts: Any, *places: int) -> Any:
    """The state after these places were drawn."""
    system = concepts.witness_system()
    state = system.begin()
    for place in places:
        state = system.after(state, (PLACE, place))
    return state


STEPPED = ((0, 3), (2, 3))
"""The state of a threshold after one step; the next one may contradict it."""
SQUARE, CORNERS = Boxes(2, 2), [(0, 0), (0, 1), (1, 0), (1, 1)]
CASES: list[tuple[Any, list[Any], dict[Any, Any]]] = [
    (Conjunctions(1), [(0,), (1,)], {0: 3, 1: 2, AGAIN: 1}),
    (MonotoneDisjunctions(1, 2), [(0, 1), (1, 0), (1, 1), (0, 0)], {0: 3, 1: 3}),
    (Thresholds(3), [0, 1, 2], {(1, 0): 3, (1, 1): 2}),
    (Intervals(3), [0, 1, 2], {"places": (0, 1, 2)}),
    (Intervals(3), [0, 1, 2], {"places": (0, 0, 2, 2)}),
    (
        Intervals(3),
        [0, 1, 2],
        {"state": found(Intervals(3), 1), (AGAIN, 0, 0, 0): 2, (0, 0, 1): 2, (1, 0, 1): 4},
    ),
    (
        Intervals(3),
        [0, 1, 2],
        {"state": (1, 2, ((0, 1), (1, 1)), ((0, 1),)), (AGAIN, 0, 1, 0): 2, (1, 0, 1): 3},
    ),
    (Thresholds(3), [0, 1, 2], {"state": STEPPED, (AGAIN, 2, 1): 2, (2, 0): 3}),
    (Thresholds(3), [0, 1, 2], {"state": (*STEPPED, (3, 3)), (AGAIN, 3, 0): 1, (AGAIN, 3, 1): 2}),
    (Points(2), [0, 1], {0: 3, 1: 4, AGAIN: 1}),
    (Points(2), [0, 1], {"state": (1,), AGAIN: 2}),
    (SQUARE, CORNERS, {"places": (0, 1, 1)}),
    (SQUARE, CORNERS, {"state": found(SQUARE, 1), "places": (0, 0, 1)}),
    (SQUARE, CORNERS[1:3], {"state": found(SQUARE, 0, 1), (0, 0): 3, (1, 1): 3, (2, 1): 2}),
]


@pytest.mark.parametrize(("concepts", "points", "counts"), CASES, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("most", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_the_exact_law_keeps_the_promise(
    most: int, concepts: Any, points: Any, counts: Any
) -> None:
    examples = [(x, y) for x in points for y in (0, 1)]
    pairs = list(itertools.combinations(examples, 2))
    for seed, pair in enumerate(pairs[:: 1 + len(pairs) // most]):
        played = adversary(seed, points)
        rounds = 2 if counts.keys() & {"places", "state"} else 3  # draws, or many keys
        ratio = largest_ratio(Model(concepts), pair, played, rounds, counts)
        assert ratio <= 1 + 1e-7, (pair, ratio)


@pytest.mark.parametrize("places", [(0,), (0, 1, 3), (1, 2, 2, 2), (0, 0, 3, 3)])
def test_a_point_of_the_cube_keeps_the_promise(places: tuple[int, ...]) -> None:
    model = Model(Conjunctions(2), placed=True)
    examples = [(x, y) for x in CORNERS for y in (0, 1)]
    for seed, pair in enumerate(itertools.combinations(examples, 2)):
        ratio = largest_ratio(model, pair, adversary(seed, CORNERS), 2, {"places": places})
        assert ratio <= 1 + 1e-7, (pair, ratio)


def test_a_point_that_is_drawn_too_sharply_is_found_out() -> None:
    model = Model(Conjunctions(2), placed=True, place_rate=0.3, selection_rate=0.7)
    pair = (((0, 0), 1), ((1, 1), 1))
    played = adversary(0, CORNERS)
    counts = {"places": (3, 3, 3, 3)}
    assert _ratio_or_infinite(model, pair, played, 1, counts) > 1.02
    sound = Model(Conjunctions(2), placed=True)
    assert largest_ratio(sound, pair, played, 1, counts) <= 1 + 1e-7


def rest(concepts: Any) -> Callable[[View], Example]:
    """Rounds that no counter counts, as long as nothing has fired."""
    silent = {Intervals: (0, 0), Thresholds: (2, 1)}.get(type(concepts))
    return lambda view: silent or ((0,) * concepts.n, 0)


LINE = Intervals(3)
TWO, ONE = Conjunctions(2), Conjunctions(1)
SCENES: dict[str, tuple[Model, tuple[Example, Example], dict[Any, Any]]] = {
    "every literal": (
        Model(TWO, threshold=9, every_literal=True),
        (((1, 1), 1), ((1, 1), 0)),
        {0: 6, 2: 6},
    ),
    "only when named": (Model(ONE, only_when_named=True), (((1,), 1), ((1,), 0)), {0: 3}),
    "true count": (
        Model(ONE, query_rate=50.0, threshold_rate=50.0), (((1,), 1), ((1,), 0)), {0: 3}
    ),
    "too much query noise": (
        Model(ONE, query_rate=0.9, threshold_rate=0.3), (((1,), 1), ((0,), 1)), {0: 3, 1: 3}
    ),
    "one place priced": (
        Model(LINE, place_rate=0.3, selection_rate=0.7), ((0, 1), (2, 1)), {"places": (2, 2, 2, 2)}
    ),
    "the count priced alone": (
        Model(LINE, place_rate=1.0), ((1, 1), (1, 0)), {"places": (0, 2)}
    ),
    "noise that is kept on the way back": (
        Model(Thresholds(3), threshold=9, kept=True), ((1, 0), (1, 1)), {(1, 0): 6}
    ),
    "places by true count": (
        Model(LINE, place_rate=50.0), ((1, 1), (1, 0)), {"places": (0, 1, 2)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_a_broken_mechanism_is_found_out(name: str) -> None:
    broken, pair, counts = SCENES[name]
    sound = Model(broken.concepts, threshold=broken.threshold)
    rounds = 2 if broken.concepts is TWO else 3
    played = rest(broken.concepts)
    assert largest_ratio(sound, pair, played, rounds, counts) <= 1 + 1e-7
    with np.errstate(all="ignore"):
        assert _ratio_or_infinite(broken, pair, played, rounds, counts) > 1.02


def _ratio_or_infinite(*game: Any) -> float:
    try:
        return largest_ratio(*game)
    except (ZeroDivisionError, ValueError, KeyError):  # possible in one world only
        return math.inf


def law(recipe: PrivateWitnesses, plain: bool, examples: list[Example]) -> Law:
    def play(tape: Any) -> Any:
        run: Any = PlainWitnesses(recipe, tape) if plain else recipe.start(rng=tape)
        seen = []
        for x, y in examples:
            run.observe(x, y)
            tape.left -= 1
            seen.append(run.hypothesis)
        return tuple(seen)

    with enumerable():
        return law_of(play, rounds=len(examples), negligible=UNIT >> 16, most=10**4)


# Rates so high that noise is nearly always 0, 1 or 2.
PLAN = WitnessPlan(query_rate=3.0, threshold_rate=4.0, threshold=2, again=1)
DRAWING = FreshPlan(threshold_epsilon=4.5, threshold=1, selection_rate=1.0)


@pytest.mark.parametrize(
    ("concepts", "examples"),
    [
        (ONE, [((1,), 1), ((1,), 1), ((1,), 0)]),
        (ONE, [((0,), 1), ((0,), 1), ((1,), 1)]),
        (Thresholds(3), [(0, 1), (0, 1), (2, 0)]),
        (MonotoneDisjunctions(1, 2), [((1, 1), 0), ((1, 1), 0), ((0, 1), 1)]),
        (Intervals(3), [(0, 1), (2, 0)]),
        pytest.param(Intervals(4), [(3, 1), (1, 1)], marks=pytest.mark.slow),
        (SQUARE, [((0, 1), 1), ((1, 1), 1)]),
        (Points(2), [(1, 1), (1, 1), (0, 1)]),
        (Thresholds(1), [(0, 0), (0, 0), (0, 0)]),
        (Conjunctions(2), [((0, 1), 1), ((1, 1), 1)]),
    ],
)
def test_the_engine_has_the_law_of_the_plain_one(concepts: Any, examples: list[Example]) -> None:
    places = isinstance(concepts, Intervals | Boxes) or concepts == Conjunctions(2)
    plan = replace(PLAN, drawing=DRAWING, threshold=1) if places else PLAN
    recipe = PrivateWitnesses(concepts=concepts, rounds=4, epsilon=7.0, plan=plan)
    fast, plain = law(recipe, False, examples), law(recipe, True, examples)
    slack = fast.missing + plain.missing
    assert slack < UNIT >> 6
    for view in fast.views.keys() | plain.views.keys():
        one, other = fast.views.get(view, NOTHING), plain.views.get(view, NOTHING)
        assert one.low <= other.high + slack and other.low <= one.high + slack
    assert len(fast.views) > 3
