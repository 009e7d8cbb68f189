"""Instances of what has a theorem, drawn at random: Python's law, in a line for Coq."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, Final

from exact_law import Enumeration
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

from littlestone.audit.exact import tape
from littlestone.audit.exact.tape import Tape
from littlestone.audit.substitution import replaced
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.keys import key_order
from littlestone.concepts.witness_systems import starts_again
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses, PrivateWitnessesEngine
from littlestone.privacy.guarantee import Neighbours
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.noise.exact import exp_bounds
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace, TruncatedLaplace
from littlestone.randomness import seeded


def count_above_threshold(random: Random, start: Any = None) -> Instance:
    base, tau = random.choice(BASES), random.randint(-1, 3)
    rounds, again = random.randint(1, 3), random.random() < 0.6
    plain = random.random() < 0.5
    strategy = Strategy(random, lambda r: r.randint(0, 1))
    recipe = CountAboveThreshold(epsilon=1.0, threshold=tau)

    def begin(coins: Tape) -> Any:
        if start is not None:
            return start(recipe, coins)
        return recipe.start_plain(rng=coins) if plain else recipe.start(rng=coins)

    def play(coins: Tape) -> int:
        run, view = begin(coins), 1
        for _ in range(rounds):
            yes = run.observe(strategy(view))
            coins.left -= 1
            view = 2 * view + yes
            if yes and not again:
                break
            if yes:
                run = begin(coins)
        return view

    most = rounds if start is None else 2 * rounds  # what is broken may count twice
    law = Enumeration(base, max(0, most - tau)).law(play, rounds)
    line = (
        f"count_above_threshold_agrees {fraction(base)} {integer(tau)} {boolean(again)} "
        f"{number(rounds)} {strategy.table(boolean)} {law_table(law)}"
    )
    return Instance("CountAboveThreshold", line, len(law))


def private_keys(random: Random, changed: Any = None) -> Instance:
    base = random.choice(BASES)
    query, threshold = random.choice(((1, 1), (1, 1), (1, 2), (2, 1)))
    keys, rounds = random.choice(((1, 2), (1, 3), (2, 1), (2, 2)))
    reports, complaints = random.randint(1, 2), random.randint(1, 2)
    strategy = Strategy(random, lambda r: (r.randrange(keys), int(r.random() < 0.7)))
    recipe = PrivateKeys(rounds=rounds, epsilon=5.0, delta=0.9)
    if changed is not None:
        recipe = changed(recipe)
    object.__setattr__(recipe, "complaints", complaints)
    for name, value in (("query_rate", query), ("threshold_rate", threshold)):
        object.__setattr__(recipe.watch, name, float(value))
    object.__setattr__(recipe.watch, "threshold", reports)

    def play(coins: Tape) -> int:
        run, view = recipe.start(rng=coins), 1
        for _ in range(rounds):
            run.observe(*strategy(view))
            coins.left -= 1
            for key in range(keys):
                view = 2 * view + (key in run.hypothesis.positives)  # type: ignore[attr-defined]
        return view

    law = Enumeration(base, max(0, rounds - min(reports, complaints))).law(play, rounds)
    adversary = strategy.table(lambda z: f"({number(z[0])}, {boolean(z[1])})")
    line = (
        f"private_keys_agrees {fraction(base**query)} {fraction(base**threshold)} "
        f"{integer(reports)} {integer(complaints)} {number(keys)} {number(rounds)} {adversary} "
        f"{law_table(law)}"
    )
    return Instance("PrivateKeys", line, len(law))


class _Tables:
    """A witness system whose states, keys and examples are numbered."""

    def __init__(self, concepts: Any, points: list[Any]) -> None:
        system: Any = concepts.witness_system()
        self.examples = list(product(points, (0, 1)))
        states, keys = [system.begin()], set()
        for state in states:
            keys.update(system.live(state))
            for key in system.live(state):
                after = system.after(state, key)
                if after is not None and after not in states:
                    states.append(after)
        self.keys = sorted(keys, key=key_order)
        self.live = [sorted(map(self.keys.index, system.live(state))) for state in states]
        self.after = [
            [
                states.index(after)
                if key in system.live(state) and (after := system.after(state, key)) is not None
                else None
                for key in self.keys
            ]
            for state in states
        ]
        self.named = [
            [
                self.keys.index(system.named_by(state, x, y))
                if system.hypothesis(state)(x) != y
                else None
                for x, y in self.examples
            ]
            for state in states
        ]

    def shown(self) -> str:
        live = listed(listed(map(number, row)) for row in self.live)
        after = listed(listed(map(optional, row)) for row in self.after)
        named = listed(listed(map(optional, row)) for row in self.named)
        return f"(System {live} {after} {named})"


SYSTEMS: Final = (
    (Thresholds(1), [0], 2),
    (Thresholds(2), [0, 1], 2),
    (Thresholds(3), [0, 1, 2], 1),
    (Conjunctions(1), [(0,), (1,)], 1),
)
"""Classes with their points, and how many rounds can be enumerated."""


def private_witnesses(random: Random, changed: Any = None, *, long: bool = False) -> Instance:
    """One round, and seldom two, which take seconds, unless it has to be ``long``."""
    base = random.choice(BASES)
    query, threshold = random.choice(((1, 1), (1, 2), (2, 1)))
    concepts, points, most = SYSTEMS[0] if long else random.choice(SYSTEMS)
    tables = _Tables(concepts, points)
    rounds = most if long or random.random() < 0.08 else 1
    # Thresholds of at least as many rounds leave all threshold noise open: fewer cases.
    accepted, again = random.randint(rounds, 2), random.randint(rounds, 2)
    plan = WitnessPlan(
        query_rate=float(query), threshold_rate=float(threshold), threshold=accepted, again=again
    )
    recipe: Any = PrivateWitnesses(concepts=concepts, rounds=rounds, epsilon=4.0, plan=plan)
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(tables.examples)))
    fired: list[Any] = []
    accept = PrivateWitnessesEngine._accept

    def noted(engine: PrivateWitnessesEngine, due: list[Any]) -> None:
        fired.extend(due)
        accept(engine, due)

    def play(coins: Tape) -> int:
        run, view = recipe.start(rng=coins), 1
        for _ in range(rounds):
            fired.clear()
            run.observe(*tables.examples[strategy(view)])
            coins.left -= 1
            for key in tables.keys:
                view = 2 * view + (key in fired)
        return view

    with replaced(PrivateWitnessesEngine, _accept=noted):
        law = Enumeration(base, max(0, rounds - min(accepted, again))).law(play, rounds)
    thresholds = listed(integer(again if starts_again(key) else accepted) for key in tables.keys)
    line = (
        f"private_witnesses_agrees {fraction(base**query)} {fraction(base**threshold)} "
        f"{tables.shown()} {thresholds} {number(len(tables.keys))} {number(rounds)} "
        f"{strategy.table(number)} {law_table(law)}"
    )
    return Instance("PrivateWitnesses", line, len(law))


def _mechanism(random: Random) -> ExponentialMechanism:
    return ExponentialMechanism(
        epsilon=random.choice((0.25, 0.5, 1.0, 1.7, 4.0)),
        range_width=random.choice((1, 2)),
        floor_bits=random.choice((1, 2, 4)),
    )


def weight_table(random: Random) -> Instance:
    """The table itself, entry by entry."""
    bits, guard, floor_bits = 192, 55, random.choice((1, 2, 4, 8))
    mechanism = ExponentialMechanism(epsilon=random.uniform(0.3, 6), floor_bits=floor_bits)
    ratio = exp_bounds(mechanism.eta, bits)[1]
    weights = mechanism._table.weights
    line = (
        f"table_agrees {integer(ratio)} {number(bits)} {integer(1 << guard)} "
        f"{integer(1 << (guard + floor_bits))} {listed(map(integer, weights))}"
    )
    return Instance("WeightTable", line, len(weights))


def exponential(random: Random, draw: Any = None) -> Instance:
    mechanism, size = _mechanism(random), random.randint(1, 5)
    scores = [random.randint(-4, 6) for _ in range(size)]
    lengths = [random.randint(0, 2) for _ in range(size)]
    if random.random() < 0.5 or not any(lengths):
        lengths = [1] * size
    given = None if set(lengths) == {1} else lengths

    def play(coins: Tape) -> int:
        if draw is not None:
            return int(draw(mechanism, scores, given, coins))
        return int(mechanism.draw(scores, multiplicities=given, rng=coins)[0])

    law = Enumeration(BASES[0], 0).law(play, 1)
    line = (
        f"exponential_agrees {listed(map(integer, mechanism._table.weights))} "
        f"{listed(map(integer, scores))} {listed(map(number, lengths))} {law_table(law)}"
    )
    return Instance("ExponentialMechanism", line, len(law))


EPSILONS: Final = (0.5, 1.0, 2.0)


def weights_name(epsilon: float) -> str:
    return f"weights_{EPSILONS.index(epsilon)}"


def definitions() -> str:
    """What many lines share: the tables of weights of DisjointBatches."""
    tables = {
        weights_name(epsilon): ExponentialMechanism(epsilon=epsilon)._table.weights
        for epsilon in EPSILONS
    }
    return "".join(
        f"Definition {name} : list Z := {listed(map(integer, weights))}.\n"
        for name, weights in tables.items()
    )


def disjoint_batches(random: Random, changed: Any = None) -> Instance:
    """One window at most, since that draws one of 186 places; before it up to three batches."""
    points, rounds = random.choice(((1, 1), (2, 2), (2, 3), (1, 4), (1, 4), (2, 4), (1, 5)))
    concepts, voters, votes = Thresholds(points), random.choice((1, 3)), random.random() < 0.3
    recipe: Any = DisjointBatches(
        concepts=concepts,
        epsilon=random.choice(EPSILONS),
        first=random.randint(1, 2),
        growth=random.choice((1.0, 2.0)),
        longest=1 if votes else random.choice((1, 2, 512)),
        past=16 if votes else random.choice((1, 2, 16)),
        window=1 if votes else random.randint(0, 1),
        watched_from=4 if votes else random.choice((1, 4, 5)),
        voters=3 if votes else voters,
    )
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(
        random,
        lambda r: None if r.random() < 0.1 else (r.randrange(concepts.n), r.randint(0, 1)),
    )
    rules = list(concepts.concepts())
    schedule = _schedule(recipe, rounds)

    def play(coins: Tape) -> int:
        run, view = recipe.start(rng=coins), 1
        engine = run._engine
        for kind, due in schedule:
            example = strategy(view)
            if example is None:
                engine.idle(0)
            else:
                engine.step(*example)
            place = (rules.index(engine._drawn[-1]), engine._shown)[kind]
            view = 16 * view + (1 + place if due else 0)
        return view

    law = Enumeration(BASES[0], 0).law(play, rounds)
    engine = recipe.start(rng=seeded(0))._engine
    constants = [rules.index(each) for each in engine._constants]
    kinds, dues = zip(*schedule, strict=True)
    plan = f"(Schedule {listed(map(number, kinds))} {listed(map(boolean, dues))})"
    weights = weights_name(recipe.epsilon)
    adversary = strategy.table(
        lambda z: "None" if z is None else f"Some ({number(z[0])}, {boolean(z[1])})"
    )
    truth = listed(listed(boolean(rule(x)) for x in range(concepts.n)) for rule in rules)
    line = (
        f"disjoint_batches_agrees {truth} {listed(map(number, constants))} "
        f"{number(rules.index(engine._rule))} {number(recipe.voters)} {plan} {weights} "
        f"{number(rounds)} {adversary} {law_table(law)}"
    )
    return Instance("DisjointBatches", line, len(law))


def _schedule(recipe: Any, rounds: int) -> list[tuple[int, bool]]:
    """Of each round: which buffer it fills, and whether that is read then."""
    engine, plan = recipe.start(rng=seeded(0))._engine, []
    for played in range(1, rounds + 1):
        window = played % 4 == 0 and played > engine._unwatched
        engine.idle(0)
        plan.append((int(window), not (engine._window_labels if window else engine._labels)))
    return plan


def private_histogram(random: Random, changed: Any = None) -> Instance:
    base, bound = random.choice(BASES), random.randint(0, 3)
    threshold = bound + random.randint(1, 2)
    cells = random.choice((1, 2))  # that a change of one element moves: a rate of 1 for each
    neighbours: Neighbours = "add-remove" if cells == 1 else "replace"
    recipe = PrivateHistogram(epsilon=float(cells), delta=0.25, neighbours=neighbours)
    if changed is not None:
        recipe = changed(recipe)
    noise = recipe._noise
    object.__setattr__(recipe, "_noise", TruncatedLaplace(rate=noise.rate, bound=bound))
    object.__setattr__(recipe, "threshold", threshold - (recipe.threshold == noise.bound))
    counts = [random.choice((0, 0, 1, 1, 2, 3, 5)) for _ in range(random.randint(1, 3))]

    def play(coins: Tape) -> int:
        released = recipe.release(dict(enumerate(counts)), rng=coins)
        code = 1
        for key in range(len(counts)):
            code = 64 * code + (1 + int(released[key]) if key in released else 0)
        return code

    law = Enumeration(base, 0).law(play, 1)
    line = (
        f"histogram_agrees {fraction(base)} {number(bound)} {integer(threshold)} "
        f"{listed(map(number, counts))} {law_table(law)}"
    )
    return Instance("PrivateHistogram", line, len(law))


def laplace_count(random: Random, changed: Any = None) -> Instance:
    """The probabilities of the values within 12; the others are infinitely many."""
    base, count = random.choice(BASES), random.randint(-20, 20)
    epsilon, sensitivity = random.choice((0.5, 1.0)), random.choice((1, 2))
    recipe: Any = LaplaceCount(epsilon=epsilon, sensitivity=sensitivity)
    if changed is not None:
        recipe = changed(recipe)

    def near_zero(noise: DiscreteLaplace, coins: Tape) -> int:
        q = tape.exp_mass(4 * Fraction(noise.rate))  # the base stands for e^(-1/4)
        centre = q.rest().over(tape.ONE.plus(q))
        places = range(-12, 13)
        return places[coins.choose([centre.times(q.power(abs(k))) for k in places])]

    def play(coins: Tape) -> int:
        with replaced(DiscreteLaplace, draw=near_zero):
            return int(recipe.release(count, rng=coins))

    law = Enumeration(base, 0).law(play, 1, whole=False)
    pairs = listed(f"({integer(value - count)}, {fraction(p)})" for value, p in sorted(law.items()))
    q = base ** int(4 * epsilon / sensitivity)
    return Instance("LaplaceCount", f"laplace_agrees {fraction(q)} {pairs}", len(law))
