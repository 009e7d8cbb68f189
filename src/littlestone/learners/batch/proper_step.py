"""From a public function that behaves like a concept to a concept, privately; restriction trees.

A restriction tree cuts a subclass into parts that each behave, on few points, like one function. It
is deterministic and depends on the subclass alone. After [L25], in the role of the ReduceTree of
[GGKM21]; no tree needs to be optimal. irreducible.md has the lemmas.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.online.critical_game import minimax
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


@dataclass(frozen=True, slots=True)
class Node:
    """A subclass and the point that it is cut at, None for a leaf; empty parts are left out."""

    members: int
    dimension: int
    depth: int
    point: int | None = None
    children: tuple["Node", ...] = ()

    def leaves(self) -> Iterator["Node"]:
        """Yield the leaves from left to right."""
        if self.point is None:
            yield self
        for child in self.children:
            yield from child.leaves()


def dimension_of(concepts: FiniteClass, members: int) -> int:
    """Return the Littlestone dimension of a subclass; -1 when empty."""
    return FiniteVersionSpace(concepts, members).dimension


def keeping_labels(concepts: FiniteClass, members: int) -> bytes:
    """Return, for each point, 0 if that label keeps the dimension of the subclass, and 1 otherwise.

    The other label always lowers the dimension: if both kept it, it would be larger by one. Unlike
    in the standard optimal algorithm, ties between two lower dimensions go to 1.
    """
    whole = dimension_of(concepts, members)
    return bytes(dimension_of(concepts, members & zeros) < whole for zeros, _ in concepts.sides)


def shrinking_points(concepts: FiniteClass, members: int, longest: int) -> list[int] | None:
    """Return the shortest list of points whose keeping labels together lower the dimension.

    None if no list of at most ``longest`` points does: the subclass is ``longest``-irreducible. The
    labels are those of ``members`` and stay fixed along the list.
    """
    whole = dimension_of(concepts, members)
    labels = keeping_labels(concepts, members)
    sides = [pair[label] for pair, label in zip(concepts.sides, labels, strict=True)]
    reached: dict[int, list[int]] = {members: []}
    seen = {members}
    for _ in range(min(longest, len(sides))):
        further: dict[int, list[int]] = {}
        for part, points in reached.items():
            for x, side in enumerate(sides):
                left = part & side
                if left in seen:
                    continue
                if dimension_of(concepts, left) < whole:
                    return [*points, x]
                seen.add(left)
                further[left] = [*points, x]
        reached = further
    return None


def restriction_tree(concepts: FiniteClass, members: int, *, reach: int) -> Node:
    """Return a valid tree of a non-empty subclass.

    With d the dimension of ``concepts``, a leaf of dimension t is (reach * 2**(d-t))-irreducible
    and at depth at most reach * (2**(d-t) - 1).
    """
    whole = concepts.littlestone_dimension

    def build(part: int, depth: int) -> Node:
        dimension = dimension_of(concepts, part)
        points = shrinking_points(concepts, part, reach << whole - dimension)
        if points is None:
            return Node(part, dimension, depth)
        return cut(part, depth, points, keeping_labels(concepts, part))

    def cut(part: int, depth: int, points: list[int], labels: bytes) -> Node:
        """Cut along the list; build a subtree for each part that leaves it, and for the rest."""
        x, *rest = points
        leaving = part & concepts.sides[x][1 - labels[x]]
        staying = part & concepts.sides[x][labels[x]]
        children = [build(leaving, depth + 1)] if leaving else []
        if staying:
            along = cut(staying, depth + 1, rest, labels) if rest else build(staying, depth + 1)
            children.append(along)
        return Node(part, dimension_of(concepts, part), depth, x, tuple(children))

    return build(members, 0)


def top_functions(concepts: FiniteClass, members: int, *, reach: int) -> frozenset[bytes]:
    """Return the keeping labels of the leaves of largest dimension; none for the empty subclass."""
    if not members:
        return frozenset()
    leaves = irreducible_parts(concepts, members, reach=reach)
    degree = max(dimension_of(concepts, leaf) for leaf in leaves)
    top = (leaf for leaf in leaves if dimension_of(concepts, leaf) == degree)
    return frozenset(keeping_labels(concepts, leaf) for leaf in top)


def irreducible_parts(concepts: FiniteClass, members: int, *, reach: int) -> list[int]:
    """Return the leaves of the tree of a non-empty subclass."""
    if reach >= len(concepts.sides):  # every part with two members can still be cut
        return [1 << i for i in range(members.bit_length()) if members >> i & 1]
    return [leaf.members for leaf in restriction_tree(concepts, members, reach=reach).leaves()]


def leaves_bound(*, dimension: int, reach: int) -> int:
    """Bound the leaves of a valid tree: the product over t of reach * 2**(dimension-t) + 1.

    >>> leaves_bound(dimension=2, reach=10)
    231
    """
    return math.prod((reach << dimension - t) + 1 for t in range(1, dimension + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProperStep:
    """Propose concepts close to a public function on every point; take the best on the data.

    If the function behaves like some concept on any few points, a distribution over the concepts is
    close to it everywhere (a zero-sum game, solved by a linear program). A few draws from it
    contain a concept that is close on the data; the exponential mechanism chooses among them.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the function may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    nothing
        Proof:      proper_step.md
    """

    concepts: FiniteClass
    epsilon: float
    failure_probability: float
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        object.__setattr__(self, "_mechanism", ExponentialMechanism(epsilon=self.epsilon))

    @property
    def proposals(self) -> int:
        """K: all draws are too far away with at most half of the failure probability."""
        return proposals_for(self.failure_probability)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of the mechanism."""
        return self._mechanism.guarantee()

    def distribution(self, function: bytes) -> NDArray[np.float64]:
        """Return the public distribution over concepts that is closest on the worst point."""
        wrong = self.concepts.matrix != np.frombuffer(function, dtype=np.uint8)
        same = np.flatnonzero(~wrong.any(axis=1))
        if len(same):  # the function is a concept
            alone: NDArray[np.float64] = (np.arange(self.concepts.size) == same[0]) * 1.0
            return alone
        return minimax(wrong.astype(np.float64))  # (L1)

    def gap(self, function: bytes) -> float:
        """Return how far the distribution is from the function on the worst point."""
        wrong = self.concepts.matrix != np.frombuffer(function, dtype=np.uint8)
        return float((self.distribution(function) @ wrong).max())

    def choose(self, function: bytes, tally: Tallied, *, rng: Randomness) -> Hypothesis:
        """Choose a concept that errs on the data little more than the function does."""
        weights = self.distribution(function)
        proposed = self._propose(weights, rng)  # (L2)
        rows = self.concepts.matrix[proposed][:, tally.points].astype(np.int64)
        losses = tally.ones.sum() + rows @ (tally.zeros - tally.ones)
        [place] = self._mechanism.draw(losses, rng=rng)  # (L3)
        return TableHypothesis(self.concepts.matrix[proposed[place]].tobytes())

    def _propose(self, weights: NDArray[np.float64], rng: Randomness) -> NDArray[np.int64]:
        """Draw in floating point, as everything here is public."""
        ends = np.cumsum(weights)
        darts = rng.below_many(1 << 53, self.proposals) * (2.0**-53 * ends[-1])
        places = np.searchsorted(ends, darts, side="right")
        proposed: NDArray[np.int64] = np.minimum(places, np.flatnonzero(weights)[-1])
        return proposed


def irreducible_gap_bound(*, reach: int, log2_growth: float) -> float:
    """Bound the game's value for the labels of a ``reach``-irreducible part: γ_q of proper_step.md.

    ``log2_growth`` bounds log2 of the number of labellings of 2 * reach points.
    """
    require.integer(reach=reach, at_least=1)
    require.non_negative(log2_growth=log2_growth)
    return min(1.0, upwards(2 * max(4.0, 1 + log2_growth) / reach))


def proposals_for(failure_probability: float) -> int:
    """Return ⌈log₂(2/β)⌉."""
    require.open_probability(failure_probability=failure_probability)
    return math.ceil(math.log2(2 / failure_probability))


def step_excess_bound(
    *, epsilon: float, size: int, gap: float, failure_probability: float
) -> float:
    """Bound the share of errors beyond the function's, if the game's value is at most ``gap``."""
    require.usual(epsilon=epsilon, size=size)
    odds = 2 * proposals_for(failure_probability) / failure_probability
    return upwards(2 * gap + 2 * math.log(odds + 1) / (epsilon * size))
