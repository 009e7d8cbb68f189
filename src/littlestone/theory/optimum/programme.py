"""Solve the linear programme of a game in floating point; the result is only a proposal.

Variables, all at least 0, for one history of each orbit and multiplied by its ``count``:

    R   the learner's probability of a history, given its examples
    W   mistakes that the best realizable adversary adds after a history
    Z   the attacker's gain beyond e^ε from two histories that have differed
    X   the attacker's gain from two histories that have not differed yet

The value is the least Σ W over the first hypotheses. Privacy is the constraint Σ X ≤ δ; with δ = 0
it says that R(s) ≤ e^ε R(s') at the end of each pair.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import LittlestoneError, optional
from littlestone.theory.optimum.tree import ROOT, GameTree

_TOLERANCE: Final = 1e-10


@dataclass(frozen=True, slots=True)
class Proposal:
    """The solver's result: a learner, and multipliers of the constraints."""

    learner: NDArray[np.float64]
    """The learner's probability of each history of ``published``."""
    adversary: dict[int, float]
    """For each of ``received``: the weight of an adversary that forces mistakes."""
    price: float
    """The price of one unit of δ."""
    waits: dict[int, float]
    """For each of ``received``: the weight of a privacy attacker while the worlds are equal."""
    splits: dict[int, float]
    """For each of ``splits``: the attacker's weight."""
    ends: dict[int, float]
    """For each last pair: the weight with which the attacker says "left"."""


@dataclass(slots=True)
class _Rows:
    """Named constraints ``Σ coefficient · variable ≤ bound`` (or =)."""

    names: list[tuple[str, int]] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(
        self, name: str, number: int, terms: Iterable[tuple[int, float]], bound: float = 0.0
    ) -> None:
        for column, value in terms:
            self.rows.append(len(self.names))
            self.columns.append(column)
            self.values.append(value)
        self.names.append((name, number))
        self.bounds.append(bound)

    def matrix(self, columns: int) -> Any:
        places = self.rows, self.columns
        made = optional("scipy.sparse", "the optimum")  # takes half a second to import
        return made.csr_array((self.values, places), shape=(len(self.names), columns))


class Programme:
    """The programme of one game and one budget; ``factor`` is e^ε, or infinite."""

    def __init__(self, tree: GameTree, factor: float, delta: float) -> None:
        self._tree, self._factor, self._delta = tree, factor, delta
        self._columns = len(tree.published)
        self._w: dict[int, int] = {}
        self._x: dict[int, int] = {}
        self._z: dict[int, int] = {}
        self._flows, self._rows = _Rows(), _Rows()
        self._learner()
        self._adversary()
        if factor < np.inf and tree.rounds > 1:
            self._privacy()

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and constraints."""
        return self._columns, len(self._flows.names) + len(self._rows.names)

    def solve(self) -> Proposal:
        """Return the solver's proposal."""
        solver = optional("scipy.optimize", "the optimum")
        objective = np.zeros(self._columns)
        for number in self._tree.received[ROOT].nodes.values():
            for column, value in self._mistakes(number):
                objective[column] += value
        found = solver.linprog(
            objective,
            A_ub=self._rows.matrix(self._columns),
            b_ub=self._rows.bounds,
            A_eq=self._flows.matrix(self._columns),
            b_eq=self._flows.bounds,
            method="highs",
            options={
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if found.x is None:
            raise LittlestoneError(f"the solver found no solution: {found.message}")
        return self._read(found.x, -found.ineqlin.marginals)

    def _read(self, values: NDArray[np.float64], prices: NDArray[np.float64]) -> Proposal:
        by_name: dict[str, dict[int, float]] = {}
        for (name, number), price in zip(self._rows.names, prices.tolist(), strict=True):
            by_name.setdefault(name, {})[number] = max(0.0, price)
        return Proposal(
            learner=values[: len(self._tree.published)],
            adversary=by_name.get("mistakes", {}),
            price=by_name.get("delta", {}).get(0, 0.0),
            waits=by_name.get("wait", {}),
            splits=by_name.get("split", {}),
            ends=by_name.get("end", {}),
        )

    def _new(self, place: dict[int, int], number: int) -> int:
        place[number] = self._columns
        self._columns += 1
        return place[number]

    def _learner(self) -> None:
        """Require that the probabilities of a history's continuations add up to its own."""
        for number, row in enumerate(self._tree.received):
            nodes = [(node, 1.0) for node in row.nodes.values()]
            if row.before >= 0:
                nodes.append((row.before, -1.0))
            self._flows.add("flow", number, nodes, float(number == ROOT))

    def _mistakes(self, number: int) -> list[tuple[int, float]]:
        """Return the mistakes after this history as a sum of variables."""
        node = self._tree.published[number]
        if node.level == self._tree.rounds:
            return [(number, 1.0)] if self._tree.costs(node) else []
        return [(self._w[number], 1.0)]

    def _adversary(self) -> None:
        tree = self._tree
        inner = [
            number
            for number, node in enumerate(tree.published)
            if node.fitting and node.level < tree.rounds
        ]
        for number in inner:
            self._new(self._w, number)
        for number in inner:
            for row in tree.published[number].rows.values():
                after = tree.received[row]
                if after.fitting:
                    terms = [t for node in after.nodes.values() for t in self._mistakes(node)]
                    terms += [(number, float(after.mistake)), (self._w[number], -1.0)]
                    self._rows.add("mistakes", row, terms)

    def _privacy(self) -> None:
        if self._delta > 0:
            self._attacks()
        tree = self._tree
        for number, pair in enumerate(tree.pairs):
            if pair.last:
                left = pair.count / tree.published[pair.left].count
                right = pair.count / tree.published[pair.right].count
                terms = [(pair.left, left), (pair.right, -self._factor * right)]
                if self._delta > 0:
                    terms.append((self._z[number], -1.0))
                self._rows.add("end", number, terms)

    def _attacks(self) -> None:
        tree = self._tree
        for number, node in enumerate(tree.published):
            if node.level < tree.rounds:
                self._new(self._x, number)
        for number in range(len(tree.pairs)):
            self._new(self._z, number)
        for number, row in enumerate(tree.received):
            before = tree.published[row.before] if row.before >= 0 else None
            if before is not None and before.level + 1 == tree.rounds:
                continue
            terms = [(self._x[node], 1.0) for node in row.nodes.values()]
            if before is None:
                self._rows.add("delta", 0, terms, self._delta)
            else:
                self._rows.add("wait", number, [*terms, (self._x[row.before], -1.0)])
        for number, split in enumerate(tree.splits):
            whole = self._x[split.node] if split.before < 0 else self._z[split.before]
            terms = [(self._z[pair], 1.0) for pair in split.pairs]
            self._rows.add("split", number, [*terms, (whole, -1.0)])
