"""The value of a tiny game between private learners and adaptive adversaries."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.theory.optimum.certificate import Certificate
from littlestone.theory.optimum.programme import Programme
from littlestone.theory.optimum.rounding import certified
from littlestone.theory.optimum.symmetry import TinyClass, refuse_more_than_tiny
from littlestone.theory.optimum.tree import MOST_NODES, ROOT, GameTree

_DIGITS: Final = Context(prec=50)
_BITS: Final = 60
_LARGEST_MOST: Final = 10 * MOST_NODES
# Beyond this, e^ε and the probabilities are too far apart for a solver with floats.
_LARGE_EPSILON: Final = 14.0
_LARGEST_EPSILON: Final = 1000

Labels = tuple[int, ...]
"""A hypothesis: its label at each point of the class."""


@dataclass(frozen=True, slots=True)
class LearnerRow:
    """The law of the best learner's next hypothesis after one history."""

    history: tuple[tuple[Labels, int | None, int | None], ...]
    """For each earlier round: the hypothesis, the point and its label; None for silence."""
    probability: float
    """The probability of these hypotheses, given these examples."""
    law: Mapping[Labels, float]
    """The law of the next hypothesis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The value of one game, between two rational numbers, with its certificate."""

    low: Fraction
    """No private learner makes fewer mistakes, in expectation, against the best adversary."""
    high: Fraction
    """``law`` is private and makes no more, whatever a realizable adversary does."""
    rounds: int
    epsilon: float
    delta: float
    variables: int
    """The number of variables of the linear programme."""
    tree: GameTree = field(repr=False)
    certificate: Certificate = field(repr=False)

    @property
    def value(self) -> float:
        """The middle of the interval."""
        return float((self.low + self.high) / 2)

    @property
    def width(self) -> float:
        """The distance between the two bounds."""
        return float(self.high - self.low)

    def law(self, history: Sequence[tuple[Labels, tuple[int, int]]] = ()) -> dict[Labels, Fraction]:
        """Return the law of the next hypothesis of the best learner.

        Args:
            history: A published hypothesis and an example (point, label) for each earlier round.

        Returns:
            The probability of each hypothesis, which is its label at each point.
        """
        tree = self.tree
        row, taken = ROOT, 0
        for labels, example in history:
            hypothesis = self._hypothesis(labels)
            node, taken = tree.step(row, taken, hypothesis)
            row, taken = tree.step_example(node, taken, self._example(hypothesis, *example))
        return self._law(row, taken)

    def table(self) -> Iterator[LearnerRow]:
        """Yield the best learner: one row for each reachable history, up to symmetry."""
        learner, scale = self.certificate.learner, self.certificate.learner_scale
        for number, row in enumerate(self.tree.received):
            weight = scale if row.before < 0 else learner[row.before]
            if weight:
                count = 1 if row.before < 0 else self.tree.published[row.before].count
                law = {labels: float(p) for labels, p in self._law(number, 0).items() if p}
                yield LearnerRow(self._history(number), float(Fraction(weight, scale * count)), law)

    def _law(self, row: int, taken: int) -> dict[Labels, Fraction]:
        tree, learner = self.tree, self.certificate.learner
        here = tree.received[row]
        whole = self.certificate.learner_scale if here.before < 0 else learner[here.before]
        before = 1 if here.before < 0 else tree.published[here.before].count
        level = 1 if here.before < 0 else tree.published[here.before].level + 1
        moves = tree.moves(level)
        law = {}
        for hypothesis in moves:
            node, _ = tree.step(row, taken, hypothesis)
            each = Fraction(learner[node] * before, tree.published[node].count)
            law[self._labels(hypothesis)] = each / whole if whole else Fraction(1, len(moves))
        return law

    def _history(self, row: int) -> tuple[tuple[Labels, int | None, int | None], ...]:
        found: list[tuple[Labels, int | None, int | None]] = []
        while self.tree.received[row].before >= 0:
            here = self.tree.received[row]
            node = self.tree.published[here.before]
            found.append((self._labels(node.hypothesis), *self._shown(here.example)))
            row = node.row
        return tuple(found[::-1])

    def _shown(self, example: int) -> tuple[int | None, int | None]:
        if example == self.tree.tiny.silence:
            return None, None
        column, label = divmod(example, 2)
        places = self.tree.tiny.places
        point = next(i for i, place in enumerate(places) if place.column == column)
        return point, label ^ places[point].flip

    def _labels(self, hypothesis: int) -> Labels:
        places = self.tree.tiny.places
        return tuple(
            (hypothesis >> place.column & 1 if place.column >= 0 else 0) ^ place.flip
            for place in places
        )

    def _hypothesis(self, labels: Labels) -> int:
        found = 0
        for label, place in zip(labels, self.tree.tiny.places, strict=True):
            if place.column >= 0:
                found |= (label ^ place.flip) << place.column
        if self._labels(found) != tuple(labels):
            raise ValueError(
                f"history has a hypothesis that the learner never publishes, {labels!r}"
            )
        return found

    def _example(self, hypothesis: int, point: int, label: int) -> int:
        tiny = self.tree.tiny
        place = tiny.places[point]
        if place.column < 0:
            return tiny.silence
        example = 2 * place.column + (label ^ place.flip)
        return example if example in tiny.examples_after(hypothesis) else tiny.silence


@require.checked
def optimal_mistakes(
    concepts: Any, *, rounds: int, epsilon: float, delta: float = 0.0, most: int = MOST_NODES
) -> Optimum:
    """Compute the expected mistakes of the best (ε, δ)-private learner against the best adversary.

    In each round the learner publishes a hypothesis, any function of the points; the adversary
    sees it and answers with an example. Mistakes are counted against adversaries that stay
    consistent with a concept. Privacy is that of the adaptive two-world game of replaced examples,
    against all adversaries. The value is that of a linear programme. A solver proposes a learner
    and two adversaries; exact integer arithmetic computes what they prove.

    Args:
        concepts: A finite class on finitely many points, or its 0/1 matrix (concepts by points).
        rounds: The horizon T.
        epsilon: Privacy parameter, at least 0; may be infinite.
        delta: Privacy parameter.
        most: The largest number of histories, up to symmetry, of an accepted game.

    Returns:
        The value between two rational numbers, and the learner that attains the upper one.

    Raises:
        ValueError: The class is too large.
        LittlestoneError: The game is too large.

    >>> one_bit = [[0, 0], [0, 1]]
    >>> found = optimal_mistakes(one_bit, rounds=3, epsilon=1.0)
    >>> round(found.value, 3), found.width < 1e-6
    (1.184, True)
    """
    require.integer(rounds=rounds, at_least=1)
    require.integer(most=most, at_least=1, at_most=_LARGEST_MOST)
    if not 0 <= epsilon <= _LARGEST_EPSILON and epsilon != math.inf:
        raise ValueError(
            f"epsilon must be infinite or between 0 and {_LARGEST_EPSILON}, got epsilon={epsilon!r}"
        )
    require.probability(delta=delta)
    tiny = TinyClass.from_matrix(_matrix(concepts))
    tree = GameTree(tiny, rounds, most=most)
    unlimited = epsilon == math.inf
    factor = None if unlimited else exp_bracket(Fraction(epsilon))
    budget = Fraction(0) if unlimited else Fraction(delta)
    at_most = math.inf if unlimited else math.exp(min(epsilon, _LARGE_EPSILON))
    programme = Programme(tree, at_most, float(budget))
    above = below = programme.solve()
    if not unlimited and epsilon > _LARGE_EPSILON:
        below = Programme(tree, math.inf, 0.0).solve()
    certificate = certified(tree, above, below, factor=factor, delta=budget)
    low, high = certificate.interval(tree)
    return Optimum(
        low=low,
        high=high,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        variables=programme.size[0],
        tree=tree,
        certificate=certificate,
    )


def exp_bracket(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e^x, for x >= 0; denominators are powers of two.

    Python's ``decimal`` rounds exp correctly, so its fiftieth digit is off by at most one.

    >>> low, high = exp_bracket(Fraction(1))
    >>> low < Fraction("2.718281828459045235360287") < high, float(high - low) < 1e-17
    (True, True)
    """
    if not x:
        return Fraction(1), Fraction(1)
    wider = Fraction(1, 10**45)
    value = Fraction(_DIGITS.exp(Decimal(x.numerator) / Decimal(x.denominator)))
    unit = 1 << _BITS
    low, high = value * (1 - wider), value * (1 + wider)
    return Fraction(math.floor(low * unit), unit), Fraction(math.ceil(high * unit), unit)


def _matrix(concepts: Any) -> NDArray[np.uint8]:
    listed = hasattr(concepts, "domain") and hasattr(concepts, "concepts")
    if listed and not isinstance(concepts, type):
        if concepts.size is None or concepts.domain.size is None:
            raise ValueError(
                f"concepts must be finitely many on finitely many points, got {concepts!r}"
            )
        refuse_more_than_tiny(concepts.size)  # before they are listed
        block = concepts.domain.check_many(list(concepts.domain))
        concepts = [concept.many(block) for concept in concepts.concepts()]
    try:
        matrix = np.asarray(concepts)
    except ValueError:
        raise ValueError("concepts must be a matrix with rows of one length") from None
    usual = matrix.dtype.kind in "biuf" and matrix.ndim == 2 and matrix.size > 0
    if not usual or not np.isin(matrix, (0, 1)).all():
        raise ValueError("concepts must be a class, or a matrix of 0 and 1 with a row for each")
    return matrix.astype(np.uint8)
