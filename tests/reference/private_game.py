"""The value of a tiny game between the best private learner and the best adversary, by definition.

Concepts are 0 everywhere and 1 at one of n points; one more point, where all of them are 0, gives
the silent example. The learner publishes a set of the n points (what it says of the last point
never matters), then the adversary answers. A linear programme in sequence form: what the learner
does after each history, the mistakes still to come, and by how much privacy is exceeded.
"""

import math
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

Shown = tuple[int, int] | None
History = tuple[Any, ...]
Terms = list[tuple[Any, float]]


class _Programme:
    """Rows of coefficients; variables are known by any names."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.rows: dict[bool, list[Terms]] = {False: [], True: []}
        self.sides: dict[bool, list[float]] = {False: [], True: []}

    def add(self, terms: Terms, side: float, *, equal: bool = False) -> None:
        for name, _ in terms:
            self.numbers.setdefault(name, len(self.numbers))
        self.rows[equal].append(terms)
        self.sides[equal].append(side)

    def matrix(self, equal: bool) -> Any:
        cells = [
            (at, self.numbers[name], value)
            for at, terms in enumerate(self.rows[equal])
            for name, value in terms
        ]
        rows, columns, values = zip(*cells, strict=True)
        shape = (len(self.rows[equal]), len(self.numbers))
        placed = (np.array(values), (np.array(rows), np.array(columns)))
        return coo_matrix(placed, shape=shape).tocsr()


class PrivateGame:
    """All histories of ``rounds`` rounds over ``points`` points."""

    def __init__(self, rounds: int, points: int, epsilon: float, delta: float) -> None:
        subsets = chain.from_iterable(combinations(range(points), k) for k in range(points + 1))
        self.rules = [frozenset(subset) for subset in subsets]
        self.examples: list[Shown] = [None, *((x, y) for x in range(points) for y in (0, 1))]
        self.rounds, self.growth, self.delta = rounds, math.exp(epsilon), delta
        self.lp = _Programme()

    def value(self) -> float:
        """The expected mistakes of the best learner against the best adversary."""
        lp = self.lp
        self._plays((), None)
        for rule in self.rules:
            self._pays((rule,))
            self._before((rule,))
        if self.rounds > 1:
            lp.add([(("before", (rule,)), 1.0) for rule in self.rules], self.delta)
        goal = [0.0] * len(lp.numbers)
        for rule in self.rules:
            goal[lp.numbers["left", (rule,)]] = 1.0
        found = linprog(
            goal,
            A_ub=lp.matrix(False),
            b_ub=lp.sides[False],
            A_eq=lp.matrix(True),
            b_eq=lp.sides[True],
            method="highs",
        )
        assert found.fun is not None
        return float(found.fun)

    def _on(self, history: History, example: Shown) -> Iterator[History]:
        return ((*history, example, rule) for rule in self.rules)

    def _plays(self, history: History, before: History | None) -> None:
        """The probabilities of what is published add up to that of the history before."""
        terms: Terms = [(("plays", (*history, rule)), 1.0) for rule in self.rules]
        if before is not None:
            terms.append((("plays", before), -1.0))
        self.lp.add(terms, 1.0 if before is None else 0.0, equal=True)
        for rule in self.rules if len(history) // 2 + 1 < self.rounds else ():
            here = (*history, rule)
            for example in self.examples:
                self._plays((*here, example), here)

    def _pays(self, here: History) -> None:
        """The mistakes from here on are at least those of each example that fits."""
        for example in self.examples:
            if not _realizable([*here[1::2], example]):
                continue
            loss = 0.0 if example is None else float((example[0] in here[-1]) != bool(example[1]))
            terms: Terms = [(("plays", here), loss), (("left", here), -1.0)]
            if len(here) // 2 + 1 < self.rounds:
                terms += [(("left", there), 1.0) for there in self._on(here, example)]
                for there in self._on(here, example):
                    self._pays(there)
            self.lp.add(terms, 0.0)

    def _before(self, here: History) -> None:
        """The adversary may send two examples now, or wait."""
        number = len(here) // 2 + 1
        if number == self.rounds:
            return
        for example in self.examples:
            if number + 1 < self.rounds:
                waits: Terms = [(("before", there), 1.0) for there in self._on(here, example)]
                self.lp.add([*waits, (("before", here), -1.0)], 0.0)
                for there in self._on(here, example):
                    self._before(there)
            for other in self.examples:
                if other == example:
                    continue
                pairs = list(zip(self._on(here, example), self._on(here, other), strict=True))
                terms: Terms = [(("apart", *pair), 1.0) for pair in pairs]
                self.lp.add([*terms, (("before", here), -1.0)], 0.0)
                for pair in pairs:
                    self._apart(*pair)

    def _apart(self, one: History, other: History) -> None:
        """By how much the first history is likelier than e^ε times the second."""
        here = ("apart", one, other)
        self.lp.add([(("plays", one), 1.0), (("plays", other), -self.growth), (here, -1.0)], 0.0)
        for example in self.examples if len(one) // 2 + 1 < self.rounds else ():
            pairs = list(zip(self._on(one, example), self._on(other, example), strict=True))
            self.lp.add([*((("apart", *pair), 1.0) for pair in pairs), (here, -1.0)], 0.0)
            for pair in pairs:
                self._apart(*pair)


def _realizable(examples: list[Shown]) -> bool:
    shown = {example for example in examples if example is not None}
    ones, zeros = ({x for x, y in shown if y == label} for label in (1, 0))
    return len(ones) <= 1 and not ones & zeros
