"""Instances of LazyForest: depth 1, a few slots, every coin tossed in every way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import permutations, product
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

from littlestone.audit.exact.tape import Tape
from littlestone.audit.substitution import altered, replaced
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.json_form import one_form
from littlestone.learners.lazy_forest import layer
from littlestone.learners.lazy_forest.layer import ForestTable, tournament
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent, FirstFrequentRun
from littlestone.privacy.mechanisms.histogram import PrivateHistogram

CLASSES: Final = (
    [(0, 0), (0, 1), (1, 0)],
    [(0, 0), (0, 1), (1, 1)],
    [(0,), (1,)],
)


# Every dart and every matching as the code throws them: audits take equal ones together.
INSERT: Final = ForestTable.insert
NEIGHBOURS: Final = layer.neighbours


class Base:
    """The standard optimal learner, with its states, hypotheses and examples numbered."""

    def __init__(self, concepts: FiniteClass, points: int) -> None:
        self.examples = list(product(range(points), (0, 1)))
        states: list[Any] = [StandardOptimal(concepts).start()]
        self.after: list[list[int | None]] = []
        for state in states:
            row: list[int | None] = []
            for example in self.examples:
                grown = state.after(*example)
                if grown.failed:
                    row.append(None)
                    continue
                if grown not in states:
                    states.append(grown)
                row.append(states.index(grown))
            self.after.append(row)
        self.states = states
        said = [one_form(state.hypothesis) for state in states]
        self.hypotheses = list(dict.fromkeys(said))
        self.says = [self.hypotheses.index(each) for each in said]

    def shown(self) -> str:
        errs = listed(listed(boolean(h(x) != y) for x, y in self.examples) for h in self.hypotheses)
        after = listed(listed(map(optional, row)) for row in self.after)
        return f"(Learner {listed(map(number, self.says))} {after} {errs})"

    def tournaments(self) -> str:
        """For each two states and each label of a point on which they differ: the child's state."""

        def child(siblings: tuple[Any, Any], label: int) -> int | None:
            grown = tournament(siblings, label)
            return None if grown is None or grown.failed else self.states.index(grown)

        return listed(
            listed(listed(optional(child((u, v), label)) for label in (0, 1)) for v in self.states)
            for u in self.states
        )


class View:
    """The code of everything that is released, in its order."""

    def __init__(self, base: Base) -> None:
        self._base, self.code = base, 1

    def answer(self, yes: bool) -> None:
        self.code = 4 * self.code + 1 + yes

    def listed(self, released: dict[Any, Any]) -> None:
        self.code = 4 * self.code + 3
        for hypothesis in self._base.hypotheses:
            count = released.get(hypothesis)
            self.code = 64 * self.code + (0 if count is None else 1 + int(count))


@contextmanager
def noting(view: View) -> Iterator[None]:
    observe, release = CountAboveThresholdRun.observe, PrivateHistogram.release
    watch = FirstFrequentRun.observe

    def observed(run: Any, bit: int) -> bool:
        yes = observe(run, bit)
        view.answer(yes)
        return yes

    def released(recipe: Any, data: Any, **how: Any) -> dict[Any, Any]:
        shown = {key: int(count) for key, count in release(recipe, data, **how).items()}
        view.listed(shown)
        return shown

    def watched(run: Any, key: Any) -> bool:
        yes = watch(run, key)
        if yes:
            view.listed({one_form(each): 0 for each in run.released})
        else:
            view.answer(False)
        return yes

    with (
        replaced(layer, neighbours=NEIGHBOURS),
        replaced(ForestTable, insert=INSERT),
        replaced(CountAboveThresholdRun, observe=observed),
        replaced(FirstFrequentRun, observe=watched),
        replaced(PrivateHistogram, release=released),
    ):
        yield


def _played(recipe: Any, learner: Base, strategy: Strategy, rounds: int) -> Callable[[Tape], int]:
    """All that a run of ``recipe`` releases against ``strategy``, as a number."""

    def play(coins: Tape) -> int:
        view = View(learner)
        with noting(view):
            run = recipe.start(rng=coins)
            for _ in range(rounds):
                if run._engine.halted:
                    break
                run.observe(*learner.examples[strategy(view.code)])
                coins.left -= 1
        return view.code

    return play


def lazy_forest(random: Random, changed: Any = None, *, again: bool = False) -> Instance:
    """One copy, or fresh ones after it in two rounds; surely so if ``again``."""
    rows, base = random.choice(CLASSES), random.choice(BASES)
    concepts, learner = FiniteClass(tuple(rows)), Base(FiniteClass(tuple(rows)), len(rows[0]))
    slots, rounds = random.choice(((4, 2), (8, 2)) if again else ((4, 1), (4, 2), (4, 3), (8, 2)))
    restarts = again or (rounds == 2 and random.random() < 0.5)
    listing = PrivacyGuarantee(epsilon=2.0, delta=0.5)  # a rate of 1, and noise of at most 1
    plan = ForestPlan(
        slots=slots,
        packed=False,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(random.randint(1, 2), random.randint(1, 2)),
        list_thresholds=(2,),
        budgets=ForestBudgets(switching=(1.0, 1.0), listing=(listing,)),
    )
    recipe: Any = LazyForest(
        concepts=concepts,
        rounds=rounds,
        epsilon=3.0,
        delta=0.5,
        base=StandardOptimal(concepts),
        plan=plan,
        restarts=restarts,
    )
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(learner.examples)))
    thresholds = [1 + margin for margin in plan.margins]
    reach = max(0, rounds - min(thresholds))
    law = Enumeration(base, reach).law(_played(recipe, learner, strategy, rounds), rounds)
    count = len(learner.hypotheses)
    ranks = listed(listed(map(number, order)) for order in permutations(range(count)))
    line = (
        f"lazy_forest_agrees {learner.shown()} {number(count)} {number(slots // 2)} "
        f"{number(rounds)} {boolean(restarts)} {fraction(base)} {fraction(base)} "
        f"{listed(map(integer, thresholds))} {number(recipe.histogram(1).noise_bound)} "
        f"{integer(2)} {ranks} {strategy.table(number)} {law_table(law)}"
    )
    return Instance("LazyForest", line, len(law))


def _first_frequent(rounds: int, query: int, noise: int, threshold: int) -> FirstFrequent:
    mechanism = FirstFrequent(epsilon=3.0, delta=0.5, rounds=rounds)
    for name, value in (("query_rate", float(query)), ("threshold_rate", float(noise))):
        object.__setattr__(mechanism, name, value)
    object.__setattr__(mechanism, "threshold", threshold)
    return mechanism


def first_frequent(random: Random, changed: Any = None) -> Instance:
    """Keys, or none, until the first is released."""
    base, (keys, rounds) = random.choice(BASES), random.choice(((1, 3), (2, 2), (2, 3), (3, 2)))
    query, noise = random.choice(((1, 1), (1, 2), (2, 1)))
    threshold = random.randint(1, 3)
    strategy = Strategy(random, lambda r: r.choice((None, *range(keys), *range(keys))))
    mechanism = _first_frequent(rounds, query, noise, threshold)

    def play(coins: Tape) -> int:
        run, view = mechanism.start(rng=coins), 1
        if changed is not None:
            changed(run)
        for _ in range(rounds):
            yes = run.observe(strategy(view))
            coins.left -= 1
            if yes:
                view = 4 * view + 3
                for key in range(keys):
                    view = 64 * view + (key in run.released)
                break
            view = 4 * view + 1
        return view

    law = Enumeration(base, max(0, rounds - threshold)).law(play, rounds)
    line = (
        f"first_frequent_agrees {fraction(base**query)} {fraction(base**noise)} "
        f"{integer(threshold)} {number(keys)} {number(rounds)} {strategy.table(optional)} "
        f"{law_table(law)}"
    )
    return Instance("FirstFrequent", line, len(law))


def early_forest(random: Random, changed: Any = None) -> Instance:
    """Depth 1 with early release, and a fresh copy after it if there are restarts."""
    rows, base = random.choice(CLASSES), random.choice(BASES)
    concepts, learner = FiniteClass(tuple(rows)), Base(FiniteClass(tuple(rows)), len(rows[0]))
    slots, rounds = random.choice(((2, 1), (2, 2), (4, 2), (2, 3), (4, 3)))
    query, noise = random.choice(((1, 1), (1, 2), (2, 1)))
    threshold, margin, restarts = random.randint(1, 2), random.randint(1, 2), random.random() < 0.5
    listing = PrivacyGuarantee(epsilon=3.0, delta=0.5)
    plan = ForestPlan(
        slots=slots,
        packed=True,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(1, margin),
        list_thresholds=(3,),
        budgets=ForestBudgets(switching=(0.0, 1.0), listing=(listing,)),
        early_release=True,
    )
    recipe: Any = LazyForest(
        concepts=concepts,
        rounds=rounds,
        epsilon=3.0,
        delta=0.5,
        base=StandardOptimal(concepts),
        plan=plan,
        restarts=restarts,
    )

    mechanism = _first_frequent(rounds, query, noise, threshold)
    recipe = altered(recipe, first_frequent=lambda _: mechanism)
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(learner.examples)))
    reach = max(0, rounds - min(threshold, 1 + margin))
    law = Enumeration(base, reach).law(_played(recipe, learner, strategy, rounds), rounds)
    count, first = len(learner.hypotheses), learner.hypotheses[learner.says[0]]
    grown = (None if after is None else learner.says[after] for after in learner.after[0])
    errs = (listed(boolean(h(x) != y) for x, y in learner.examples) for h in learner.hypotheses)
    line = (
        f"early_forest_agrees {listed(boolean(first(x) != y) for x, y in learner.examples)} "
        f"{listed(map(optional, grown))} {listed(errs)} {number(count)} {number(slots // 2)} "
        f"{number(rounds)} {boolean(restarts)} {fraction(base**query)} {fraction(base**noise)} "
        f"{fraction(base)} {integer(threshold)} {integer(1 + margin)} "
        f"{listed(listed(map(number, order)) for order in permutations(range(count)))} "
        f"{strategy.table(number)} {law_table(law)}"
    )
    return Instance("LazyForest, early", line, len(law))


def packed_forest(random: Random, changed: Any = None) -> Instance:
    """Depth 2, with so few pairs that a list has one element at most, and that one three slots."""
    base, concepts = random.choice(BASES), FiniteClass(((0, 0), (0, 1), (1, 0), (1, 1)))
    learner = Base(concepts, 2)
    (pairs, darts), rounds = random.choice(((2, 6), (3, 3))), random.choice((2, 3, 3))
    lists = (
        PrivacyGuarantee(epsilon=1.0, delta=0.25),
        PrivacyGuarantee(epsilon=2.0, delta=0.5),
    )  # rates of 1, and noise of at most 1
    plan = ForestPlan(
        slots=2 * pairs,
        packed=True,
        mistakes_per_layer=(1, 1, 1),
        mistakes_per_slot=(1.0, 1.0),
        margins=(1, random.randint(1, 2), random.randint(1, 2)),
        list_thresholds=(2, 2),
        budgets=ForestBudgets(switching=(1.0, 1.0, 1.0), listing=lists),
    )
    recipe: Any = LazyForest(
        concepts=concepts,
        rounds=rounds,
        epsilon=4.0,
        delta=0.75,
        base=StandardOptimal(concepts),
        plan=plan,
        restarts=False,
    )
    assert recipe.histogram(1).noise_bound == recipe.histogram(2).noise_bound == 1
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(learner.examples)))
    thresholds = [1 + margin for margin in plan.margins]
    reach = max(0, rounds - min(thresholds))
    law = Enumeration(base, reach).law(_played(recipe, learner, strategy, rounds), rounds)
    line = (
        f"packed_forest_agrees {learner.shown()} {learner.tournaments()} "
        f"{number(len(learner.hypotheses))} {number(pairs)} {number(darts)} {number(rounds)} "
        f"{fraction(base)} {listed(map(integer, thresholds))} "
        f"{strategy.table(number)} {law_table(law)}"
    )
    return Instance("LazyForest, packed", line, len(law))
