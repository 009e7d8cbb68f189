"""The value of a tiny private game, plainly: every history, every example, no symmetry, in floats.

``value`` is the linear programme over all histories of the unreduced game. ``mistakes`` and
``attack`` play a given law, in fractions, against every adversary of that game.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

Labels = tuple[int, ...]
Labelled = tuple[int, int]
History = tuple[tuple[Labels, Labelled], ...]
Law = Callable[[History], dict[Labels, Fraction]]


class PlainGame:
    def __init__(self, matrix: Sequence[Sequence[int]], rounds: int) -> None:
        self.concepts = sorted({tuple(row) for row in matrix})
        self.points, self.rounds = len(self.concepts[0]), rounds
        self.hypotheses: list[Labels] = list(product((0, 1), repeat=self.points))
        self.examples: list[Labelled] = list(product(range(self.points), (0, 1)))

    def realizable(self, history: History) -> bool:
        return any(all(c[x] == y for _, (x, y) in history) for c in self.concepts)

    def value(self, factor: float, delta: float) -> float:
        columns: dict[Any, int] = {}
        parts: dict[str, list[Any]] = {"<=": [], "=": []}
        bounds: dict[str, list[float]] = {"<=": [], "=": []}

        def add(kind: str, terms: list[tuple[Any, float]], bound: float) -> None:
            row = len(bounds[kind])
            bounds[kind].append(bound)
            for name, value in terms:
                column = columns.setdefault(name, len(columns))
                parts[kind].append((row, column, value))

        self._learner(add, ())
        for h in self.hypotheses:
            self._mistakes(add, (), h)
        if self.rounds > 1 and factor < np.inf:
            for h in self.hypotheses:
                self._together(add, (), h, factor)
            add("<=", [(("X", (), h), 1.0) for h in self.hypotheses], delta)
        objective = np.zeros(len(columns))
        for h in self.hypotheses:
            objective[columns["W", (), h]] = 1
        built = {kind: _sparse(parts[kind], len(bounds[kind]), len(columns)) for kind in parts}
        found = linprog(
            objective,
            A_ub=built["<="],
            b_ub=bounds["<="],
            A_eq=built["="],
            b_eq=bounds["="],
            method="highs",
        )
        assert found.fun is not None, found.message
        return float(found.fun)

    def _learner(self, add: Any, history: History) -> None:
        terms = [(("R", history, h), 1.0) for h in self.hypotheses]
        if history:
            terms.append((("R", history[:-1], history[-1][0]), -1.0))
        add("=", terms, 0.0 if history else 1.0)
        if len(history) + 1 < self.rounds:
            for h, z in product(self.hypotheses, self.examples):
                self._learner(add, (*history, (h, z)))

    def _mistakes(self, add: Any, history: History, h: Labels) -> None:
        for x, y in self.examples:
            after = (*history, (h, (x, y)))
            if not self.realizable(after):
                continue
            terms = [(("R", history, h), float(h[x] != y)), (("W", history, h), -1.0)]
            if len(after) < self.rounds:
                terms += [(("W", after, g), 1.0) for g in self.hypotheses]
                for g in self.hypotheses:
                    self._mistakes(add, after, g)
            add("<=", terms, 0.0)

    def _together(self, add: Any, history: History, h: Labels, factor: float) -> None:
        whole = (("X", history, h), -1.0)
        for z in self.examples:
            after = (*history, (h, z))
            if len(after) + 1 < self.rounds:
                add("<=", [(("X", after, g), 1.0) for g in self.hypotheses] + [whole], 0.0)
                for g in self.hypotheses:
                    self._together(add, after, g, factor)
            for other in self.examples:
                if other != z:
                    one = (*history, (h, other))
                    add("<=", [(("Z", after, one, g), 1.0) for g in self.hypotheses] + [whole], 0.0)
                    for g in self.hypotheses:
                        self._apart(add, after, one, g, factor)

    def _apart(self, add: Any, left: History, right: History, h: Labels, factor: float) -> None:
        whole = (("Z", left, right, h), -1.0)
        add("<=", [(("R", left, h), 1.0), (("R", right, h), -factor), whole], 0.0)
        if len(left) + 1 < self.rounds:
            for z in self.examples:
                one, other = (*left, (h, z)), (*right, (h, z))
                add("<=", [(("Z", one, other, g), 1.0) for g in self.hypotheses] + [whole], 0.0)
                for g in self.hypotheses:
                    self._apart(add, one, other, g, factor)

    def mistakes(self, law: Law, history: History = (), weight: Fraction | int = 1) -> Fraction:
        """The largest expected number of mistakes of a learner, exactly."""
        total = Fraction(0)
        for h, p in law(history).items():
            best = Fraction(0)
            for x, y in self.examples:
                after = (*history, (h, (x, y)))
                if p and self.realizable(after):
                    more = Fraction(0)
                    if len(after) < self.rounds:
                        more = self.mistakes(law, after, weight * p)
                    best = max(best, weight * p * (h[x] != y) + more)
            total += best
        return total

    def attack(self, law: Law, factor: Fraction, history: History = (), p: Any = 1) -> Fraction:
        """The largest P(left) - factor P(right) over all attackers of the two-world game."""
        total = Fraction(0)
        if len(history) + 1 >= self.rounds:
            return total
        for h, q in law(history).items():
            best = Fraction(0)
            for z in self.examples:
                after = (*history, (h, z))
                best = max(best, self.attack(law, factor, after, p * q))
                for other in self.examples:
                    if other != z:
                        one = (*history, (h, other))
                        best = max(best, self._gain(law, factor, after, one, p * q, p * q))
            total += best
        return total

    def _gain(
        self, law: Law, factor: Fraction, left: History, right: History, p: Any, q: Any
    ) -> Fraction:
        total = Fraction(0)
        one, other = law(left), law(right)
        for h in one.keys() | other.keys():
            mine, yours = p * one.get(h, 0), q * other.get(h, 0)
            if len(left) + 1 == self.rounds:
                total += max(Fraction(0), mine - factor * yours)
                continue
            total += max(
                self._gain(law, factor, (*left, (h, z)), (*right, (h, z)), mine, yours)
                for z in self.examples
            )
        return total


def _sparse(entries: list[tuple[int, int, float]], rows: int, columns: int) -> Any:
    row, column, value = zip(*entries, strict=True)
    return csr_array((value, (row, column)), shape=(rows, columns))
