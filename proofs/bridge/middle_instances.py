"""Instances of LazyForest from the middle of a game: layer 0 is over, and its sequences are given.

So lists of several hypotheses, matchings and slots come in the first round already.
"""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

from exact_law import Enumeration
from forest_instances import CLASSES, Base, View, noting
from writing import BASES, Instance, Strategy, fraction, integer, law_table, listed, number

from littlestone.audit.exact.tape import Tape
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee


def _from_the_middle(
    recipe: Any, learner: Base, living: list[int], strategy: Strategy, rounds: int
) -> Callable[[Tape], int]:
    """All that a run releases from the end of layer 0 on, as a number."""

    def play(coins: Tape) -> int:
        view = View(learner)
        with noting(view):
            run = recipe.start(rng=coins)
            engine = run._engine
            engine._forest = ForestTable(_split=Counter(learner.states[i] for i in living))
            engine._halt_instance()
            for _ in range(rounds):
                if engine.halted:
                    break
                run.observe(*learner.examples[strategy(view.code)])
                coins.left -= 1
        return view.code

    return play


def _ranks(count: int) -> str:
    return listed(listed(map(number, order)) for order in permutations(range(count)))


def middle_forest(random: Random, changed: Any = None) -> Instance:
    """Depth 1: a list of up to three hypotheses, by single sequences."""
    rows, base = random.choice(CLASSES[:2]), random.choice(BASES)
    concepts, learner = FiniteClass(tuple(rows)), Base(FiniteClass(tuple(rows)), len(rows[0]))
    rounds, margin = random.choice((1, 2, 2)), random.randint(1, 2)
    kinds = random.sample(range(len(learner.states)), 2)
    living = [kind for kind in kinds for _ in range(random.randint(1, 3))]
    listing = PrivacyGuarantee(epsilon=2.0, delta=0.5)  # a rate of 1, and noise of at most 1
    recipe: Any = LazyForest(
        concepts=concepts,
        rounds=rounds,
        epsilon=3.0,
        delta=0.5,
        base=StandardOptimal(concepts),
        plan=ForestPlan(
            slots=4,
            packed=False,
            mistakes_per_layer=(1, 1),
            mistakes_per_slot=(1.0,),
            margins=(1, margin),
            list_thresholds=(2,),
            budgets=ForestBudgets(switching=(1.0, 1.0), listing=(listing,)),
        ),
        restarts=False,
    )
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(learner.examples)))
    play = _from_the_middle(recipe, learner, living, strategy, rounds)
    law = Enumeration(base, max(0, rounds - 1 - margin)).law(play, rounds)
    count = len(learner.hypotheses)
    line = (
        f"middle_forest_agrees {learner.shown()} {listed(map(number, living))} {number(count)} "
        f"{number(rounds)} {fraction(base)} {fraction(base)} {integer(1 + margin)} "
        f"{number(recipe.histogram(1).noise_bound)} {integer(2)} {_ranks(count)} "
        f"{strategy.table(number)} {law_table(law)}"
    )
    return Instance("LazyForest, from the middle", line, len(law))


def middle_packed(random: Random, changed: Any = None, *, kind: str | None = None) -> Instance:
    """Depth 2, packed: the matching of four sequences, or the slots of one pair and what follows.

    With more than one pair nothing is played, since their places are too many to list.
    """
    base, concepts = random.choice(BASES), FiniteClass(((0, 0), (0, 1), (1, 0), (1, 1)))
    learner = Base(concepts, 2)
    kind = kind or random.choice(("matching", "slots", "slots", "slots", "slots"))
    size, rounds = (4, 0) if kind == "matching" else random.choice(((2, 1), (3, 1), (2, 2)))
    first, second = (random.choice(same) for same in random.sample(_by_hypothesis(learner), 2))
    living = [first] * 2 + [second] * (size - 2)
    lists = (
        PrivacyGuarantee(epsilon=1.0, delta=0.25),
        PrivacyGuarantee(epsilon=2.0, delta=0.5),
    )  # rates of 1, and noise of at most 1
    plan = ForestPlan(
        slots=4,
        packed=True,
        mistakes_per_layer=(1, 4, 1),
        mistakes_per_slot=(1.0, random.choice((0.5, 1.0))),
        margins=(1, random.randint(1, 2), random.randint(1, 2)),
        list_thresholds=(2, 2),
        budgets=ForestBudgets(switching=(1.0, 1.0, 1.0), listing=lists),
    )
    recipe: Any = LazyForest(
        concepts=concepts,
        rounds=max(1, rounds),
        epsilon=4.0,
        delta=0.75,
        base=StandardOptimal(concepts),
        plan=plan,
        restarts=False,
    )
    thresholds = [[_threshold(plan, layer, slots) for slots in range(8)] for layer in range(3)]
    if changed is not None:
        recipe = changed(recipe)
    strategy = Strategy(random, lambda r: r.randrange(len(learner.examples)))
    play = _from_the_middle(recipe, learner, living, strategy, rounds)
    law = Enumeration(base, max(0, rounds - 2)).law(play, max(1, rounds))
    tables = listed(listed(map(integer, row)) for row in thresholds)
    count = len(learner.hypotheses)
    # Nothing is played from a list of two, so that their order does not matter.
    ranks = listed([listed(map(number, range(count)))])
    line = (
        f"middle_packed_agrees {learner.shown()} {learner.tournaments()} "
        f"{listed(map(number, living))} {number(count)} {number(3)} {number(rounds)} "
        f"{fraction(base)} {tables} {ranks} {strategy.table(number)} {law_table(law)}"
    )
    return Instance("LazyForest, packed, from the middle", line, len(law))


def _by_hypothesis(learner: Base) -> list[list[int]]:
    """The states that say the same, together."""
    return [
        [state for state, said in enumerate(learner.says) if said == hypothesis]
        for hypothesis in range(len(learner.hypotheses))
    ]


def _threshold(plan: ForestPlan, layer: int, slots: int) -> int:
    """As printed: mistakes for the slots, at most those of the layer, and the margin."""
    mistakes = plan.mistakes_per_layer[layer]
    if layer < 2:
        mistakes = min(mistakes, math.ceil(Fraction(plan.mistakes_per_slot[layer]) * slots))
    return mistakes + plan.margins[layer]


def forest_plan(random: Random, claimed: Any = None) -> Instance:
    """The budgets of a plan against what the theorem asks; ``claimed`` says another promise."""
    epsilon, delta = random.choice((0.5, 1.0, 2.5)), random.choice((1e-6, 1e-2))
    concepts = FiniteClass(
        random.choice((((0, 0), (0, 1), (1, 0)), ((0, 0), (0, 1), (1, 0), (1, 1))))
    )
    rule = random.choice((LazyForest.calibrated, LazyForest.proved))
    recipe = rule(
        concepts=concepts, rounds=random.choice((100, 10**4)), epsilon=epsilon, delta=delta
    )
    promise = recipe.per_example if claimed is None else claimed(recipe)
    budgets = recipe.plan.budgets
    numbers = (
        (Fraction(each) for each in each_layer)
        for each_layer in (
            budgets.switching,
            [cost.epsilon for cost in budgets.listing],
            [cost.delta for cost in budgets.listing],
        )
    )
    line = (
        f"forest_affords {fraction(Fraction(promise.epsilon))} {fraction(Fraction(promise.delta))} "
        f"{' '.join(listed(map(fraction, layers)) for layers in numbers)}"
    )
    return Instance("ForestPlan", line, 1)
