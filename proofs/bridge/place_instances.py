"""Instances of PrivateWitnesses for systems that draw places, and of the prices of their plans."""

from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any, Final

from exact_law import Enumeration
from instances import EPSILONS, weights_name
from writing import (
    BASES,
    Instance,
    Strategy,
    boolean,
    fraction,
    integer,
    law_table,
    listed,
    number,
    optional,
)

from littlestone.audit.exact.tape import Tape
from littlestone.audit.substitution import replaced
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.keys import key_order
from littlestone.concepts.witness_systems import PLACE, CubeSystem, starts_again
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import (
    PrivateWitnesses,
    PrivateWitnessesEngine,
    systems_of,
)


class _Tables:
    """A system with places: its states, keys, examples and places numbered, for so many rounds."""

    def __init__(self, concepts: Any, points: list[Any], rounds: int) -> None:
        [self.system] = [each for each in systems_of(concepts) if hasattr(each, "place")]
        self.examples = list(product(points, (0, 1)))
        self.states, self._depths = [self.system.begin()], [0]
        for state, depth in zip(self.states, self._depths, strict=False):
            for after in self._follow(state):
                if depth < rounds and after is not None and after not in self.states:
                    self.states.append(after)
                    self._depths.append(depth + 1)
        named = {key for state in self.states for key in self.system.live(state)}
        self.keys = sorted(named - {PLACE}, key=key_order)

    def _seeks(self, state: Any) -> bool:
        return tuple(self.system.live(state)) == (PLACE,)

    def _follow(self, state: Any) -> list[Any]:
        if self._seeks(state):
            return [self.system.after(state, (PLACE, v)) for v in range(self.system.places)]
        return [self.system.after(state, key) for key in self.system.live(state)]

    def _number(self, state: Any) -> int | None:
        """Return the number of a state, if it can be reached in so few rounds."""
        return self.states.index(state) if state in self.states else None

    def shown(self) -> str:
        live, after, named, found = [], [], [], []
        for state in self.states:
            keys = {} if self._seeks(state) else dict.fromkeys(self.system.live(state))
            next_ones = dict(zip(keys, self._follow(state), strict=False))
            live.append(listed(number(i) for i, key in enumerate(self.keys) if key in keys))
            after.append(listed(optional(self._number(next_ones.get(key))) for key in self.keys))
            names = (
                self.keys.index(self.system.named_by(state, *z)) if keys and wrong else None
                for z, wrong in zip(self.examples, self._wrong(state), strict=True)
            )
            named.append(listed(map(optional, names)))
            places = [] if keys else map(self._number, self._follow(state))
            found.append(listed(map(optional, places)))
        spots = (
            listed(number(self.system.place(state, x)) for x, _ in self.examples)
            if self._seeks(state)
            else "[]"
            for state in self.states
        )
        mistakes = (listed(map(boolean, self._wrong(state))) for state in self.states)
        cube = isinstance(self.system, CubeSystem)
        shape = f"(Cube {number(self.system.n)})" if cube else "Line"
        return (
            f"(System {listed(live)} {listed(after)} {listed(named)}) "
            f"(Seeking {listed(boolean(self._seeks(each)) for each in self.states)} "
            f"{number(self.system.places)} {shape} {listed(found)} {listed(mistakes)} "
            f"{listed(spots)})"
        )

    def _wrong(self, state: Any) -> list[bool]:
        rule = self.system.hypothesis(state)
        return [rule(x) != y for x, y in self.examples]


SYSTEMS: Final = (
    (Conjunctions(1), [(0,), (1,)], (1, 2, 2)),
    (Conjunctions(2), list(product((0, 1), repeat=2)), (1,)),
    (Intervals(2), [0, 1], (1,)),
    (Intervals(3), [0, 1, 2], (1,)),
)
"""Classes with their points, and how many rounds can be enumerated."""
TWO_PLACES: Final = (Boxes(2, 2), list(product((0, 1), repeat=2)), (2,))


def witness_places(random: Random, changed: Any = None, *, twice: bool = False) -> Instance:
    """One place is drawn at most, or one in each of two rounds, which takes seconds."""
    base = random.choice(BASES)
    query, threshold, place = random.choice(((1, 1, 1), (1, 2, 1), (2, 1, 2)))
    concepts, points, lengths = (
        TWO_PLACES if twice or random.random() < 0.05 else random.choice(SYSTEMS)
    )
    rounds, epsilon = random.choice(lengths), random.choice(EPSILONS)
    tables = _Tables(concepts, points, rounds)
    # Thresholds of at least as many rounds leave all threshold noise open: fewer cases.
    accepted, again, sought = (random.randint(rounds, 3) for _ in range(3))
    recipe: Any = PrivateWitnesses(
        concepts=concepts,
        rounds=rounds,
        epsilon=6.0,
        plan=WitnessPlan(
            query_rate=float(query),
            threshold_rate=float(threshold),
            threshold=accepted,
            again=again,
            drawing=FreshPlan(
                threshold_epsilon=float(place), threshold=sought, selection_rate=epsilon / 2
            ),
        ),
    )
    if changed is not None:
        recipe = changed(recipe)
    # Nothing but mistakes before both places are found, if it is ``twice``.
    choices = [i for i, (_, y) in enumerate(tables.examples) if y or not twice]
    strategy = Strategy(random, lambda r: r.choice(choices))
    law = _law(recipe, tables, strategy, base)
    thresholds = listed(integer(again if starts_again(key) else accepted) for key in tables.keys)
    line = (
        f"witness_places_agrees {fraction(base**query)} {fraction(base**threshold)} "
        f"{fraction(base**place)} {tables.shown()} {weights_name(epsilon)} {thresholds} "
        f"{integer(sought)} {number(len(tables.keys))} {number(rounds)} "
        f"{strategy.table(number)} {law_table(law)}"
    )
    return Instance("PrivateWitnesses, places", line, len(law))


def _law(recipe: Any, tables: _Tables, strategy: Strategy, base: Fraction) -> dict[Any, Fraction]:
    view = 1
    accept, draw = PrivateWitnessesEngine._accept, PrivateWitnessesEngine._drawn_place

    def accepted(engine: PrivateWitnessesEngine, due: list[Any]) -> None:
        nonlocal view
        view = 4 * view + 2 if PLACE in due else _bits(view, due, tables.keys)
        accept(engine, due)

    def drawn(engine: PrivateWitnessesEngine) -> int:
        nonlocal view
        place = draw(engine)
        view = 64 * (4 * view + 3) + place
        return place

    def play(coins: Tape) -> int:
        nonlocal view
        run, view = recipe.start(rng=coins), 1
        for _ in range(recipe.rounds):
            before = view
            run.observe(*tables.examples[strategy(before)])
            coins.left -= 1
            if view == before:
                view = _bits(before, [], tables.keys)
        return view

    with replaced(PrivateWitnessesEngine, _accept=accepted, _drawn_place=drawn):
        return Enumeration(base, 0).law(play, recipe.rounds)


def _bits(view: int, due: list[Any], keys: list[Any]) -> int:
    view = 4 * view + 1
    for key in keys:
        view = 2 * view + (key in due)
    return view


def fresh_majority(random: Random, changed: Any = None) -> Instance:
    """Phases of a private majority with fresh evidence: thresholds, or points."""
    base, place, epsilon = random.choice(BASES), random.randint(1, 2), random.choice(EPSILONS)
    concepts = random.choice((Thresholds(2), Thresholds(3), SparseSets(1, 2)))
    rounds, threshold = random.choice(((1, 1), (2, 2), (3, 3), (2, 1)))
    plan = FreshPlan(
        threshold_epsilon=float(place), threshold=threshold, selection_rate=epsilon / 2
    )
    recipe: Any = PrivateMajority(
        concepts=concepts, rounds=rounds, epsilon=6.0, evidence="fresh", plan=plan
    )
    if changed is not None:
        recipe = changed(recipe)
    phases = _Phases(recipe, rounds)
    strategy = Strategy(random, lambda r: r.randrange(len(phases.examples)))

    def play(coins: Tape) -> int:
        view = 1
        run = recipe.start(rng=coins)
        engine = run._engine
        draw = engine._selection.draw
        drawn: list[int] = []

        class Noted:
            @staticmethod
            def draw(*args: Any, **how: Any) -> Any:
                drawn.extend(draw(*args, **how))
                return drawn[-1:]

        engine._selection = Noted
        for _ in range(rounds):
            drawn.clear()
            run.observe(*phases.examples[strategy(view)])
            coins.left -= 1
            view = 64 * (4 * (4 * view + 2) + 3) + drawn[0] if drawn else 4 * view + 1
        return view

    law = Enumeration(base, max(0, rounds - threshold)).law(play, rounds)
    line = (
        f"witness_places_agrees {fraction(base)} {fraction(base)} {fraction(base**place)} "
        f"{phases.shown()} {weights_name(epsilon)} [] {integer(threshold)} {number(0)} "
        f"{number(rounds)} {strategy.table(number)} {law_table(law)}"
    )
    return Instance("PrivateMajority", line, len(law))


class _Phases:
    """Version spaces of a private majority, numbered: a witness is sought in each of them."""

    def __init__(self, recipe: Any, rounds: int) -> None:
        concepts, self._witnesses = recipe.concepts, recipe._witnesses
        self.examples = list(product(concepts.domain, (0, 1)))
        self._spaces = [concepts.version_space()]
        for _ in range(rounds):
            for space in list(self._spaces):
                for after in map(partial(self._after, space), range(self._witnesses.count())):
                    if after is not None and after not in self._spaces:
                        self._spaces.append(after)

    def _after(self, space: Any, witness: int) -> Any | None:
        example = self._witnesses.example(space, witness)
        left = None if example is None else space.restrict(*example)
        return None if left is None or left.is_empty else left

    def shown(self) -> str:
        count, found, mistakes, spots = self._witnesses.count(), [], [], []
        for space in self._spaces:
            after = (self._after(space, witness) for witness in range(count))
            found.append(
                listed(
                    optional(self._spaces.index(each) if each in self._spaces else None)
                    for each in after
                )
            )
            rule = space.standard_optimal()
            wrong = [rule(x) != y for x, y in self.examples]
            mistakes.append(listed(map(boolean, wrong)))
            named = (
                self._witnesses.named_by(space, *z) if errs else 0
                for z, errs in zip(self.examples, wrong, strict=True)
            )
            spots.append(listed(map(number, named)))
        return (
            f"(System [] [] []) (Seeking {listed(['true'] * len(self._spaces))} {number(count)} "
            f"Named {listed(found)} {listed(mistakes)} {listed(spots)})"
        )


def place_plan(random: Random, claimed: Any = None) -> Instance:
    """The rates of a plan against what the theorem asks of them; ``claimed`` says another price."""
    epsilon = random.choice((0.1, 0.5, 1.0, 1.7, 3.0))
    concepts = random.choice((Intervals(8), Conjunctions(4), Boxes(2, 8)))
    if random.random() < 0.5:
        plan = PrivateWitnesses(
            concepts=concepts, rounds=random.choice((10, 10**6)), epsilon=epsilon
        ).planned
    else:
        query, threshold = (random.uniform(0.01, epsilon / 4) for _ in range(2))
        plan = WitnessPlan(
            query_rate=query,
            threshold_rate=threshold,
            threshold=1,
            again=1,
            drawing=_drawn_plan(random, epsilon),
        )
    price = plan.guarantee().epsilon if claimed is None else claimed(plan)
    return _priced("WitnessPlan", price, (plan.query_rate, plan.threshold_rate), plan.drawing)


def majority_plan(random: Random, claimed: Any = None) -> Instance:
    """The same for the plan of a private majority with fresh evidence."""
    epsilon = random.choice((0.1, 0.5, 1.0, 1.7, 3.0))
    plan: Any = _drawn_plan(random, epsilon)
    if random.random() < 0.5:
        plan = PrivateMajority(concepts=Thresholds(8), rounds=1000, epsilon=epsilon).planned
    price = plan.guarantee(delta=0.0).epsilon if claimed is None else claimed(plan)
    return _priced("FreshPlan", price, (0.0, 0.0), plan)


def _drawn_plan(random: Random, epsilon: float) -> FreshPlan:
    return FreshPlan(
        threshold_epsilon=random.uniform(0.01, epsilon / 4),
        threshold=1,
        selection_rate=random.uniform(0.01, epsilon),
    )


def _priced(kind: str, price: Any, rates: tuple[float, ...], drawing: FreshPlan | None) -> Instance:
    places = (drawing.threshold_epsilon, drawing.selection_rate) if drawing else (0.0, 0.0)
    numbers = (Fraction(each) for each in (price, *rates, *places))
    return Instance(kind, f"plan_affords {' '.join(map(fraction, numbers))}", 1)
