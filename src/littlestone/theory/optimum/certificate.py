"""A certificate proves the value of a game: a learner from above, two adversaries from below.

All probabilities are integers over one denominator, and all comparisons are exact.
``Certificate.interval`` trusts only the tree of histories: it checks that the learner is a private
learner and that the adversaries are adversaries, and computes both bounds itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from littlestone.errors import LittlestoneError
from littlestone.theory.optimum.tree import ROOT, GameTree, Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Prove an upper and a lower bound of one game's value, for e^ε between two rational numbers.

    Upper bound: ``learner`` has a probability for each history of ``tree.published`` and is private
    for ``factor[0]``. Lower bound: ``adversary`` has the weight of a realizable adversary for each
    history of ``tree.received``; ``waits``, ``splits`` and ``ends`` are the weights of a privacy
    attacker, at ``price`` per unit of δ. Every learner that is private for ``factor[1]`` loses at
    least as much as the best response to both: the attacker gains at most δ, so the gain times the
    price is at most what is subtracted for it.
    """

    scale: int
    """The denominator of all numbers except the learner's."""
    learner_scale: int
    factor: tuple[Fraction, Fraction] | None
    """A lower and an upper bound of e^ε; None if ε is infinite."""
    delta: Fraction
    learner: tuple[int, ...]
    adversary: dict[int, int]
    price: int
    waits: dict[int, int]
    splits: dict[int, int]
    ends: dict[int, int]

    def interval(self, tree: GameTree) -> tuple[Fraction, Fraction]:
        """Check the certificate and return its lower and upper bound."""
        self._check_learner(tree)
        if not self.is_private(tree):
            raise LittlestoneError("the certificate's learner is not private")
        low, high = self.lower_end(tree), self._mistakes(tree)
        if low > high:
            raise LittlestoneError(
                f"the certificate's lower end {low} is above its upper end {high}"
            )
        return low, high

    def _check_learner(self, tree: GameTree) -> None:
        if len(self.learner) != len(tree.published) or min(self.learner) < 0:
            raise LittlestoneError(
                "the certificate's learner has negative or missing probabilities"
            )
        for row in tree.received:
            whole = self.learner_scale if row.before < 0 else self.learner[row.before]
            if sum(self.learner[node] for node in row.nodes.values()) != whole:
                raise LittlestoneError(
                    "the probabilities of the certificate's learner do not add up"
                )

    def _mistakes(self, tree: GameTree) -> Fraction:
        """Return the learner's expected mistakes against the best realizable adversary."""
        best: dict[int, int] = {}
        for number in _upwards(tree):
            node = tree.published[number]
            if node.level == tree.rounds:
                best[number] = self.learner[number] * tree.costs(node)
            else:
                best[number] = max(
                    (
                        self.learner[number] * after.mistake
                        + sum(map(best.get, after.nodes.values()))  # type: ignore[arg-type]
                        for after in map(tree.received.__getitem__, node.rows.values())
                        if after.fitting
                    ),
                    default=0,
                )
        first = sum(best[node] for node in tree.received[ROOT].nodes.values())
        return Fraction(first, self.learner_scale)

    def is_private(self, tree: GameTree) -> bool:
        """Return whether no attack on the learner gains more than δ."""
        if self.factor is None or tree.rounds == 1:
            return True
        if not self.delta:
            return all(gain <= 0 for gain in self.gains(tree))
        whole = self.learner_scale * tree.unit * self.factor[0].denominator
        return Fraction(self._best_attack(tree), whole) <= self.delta

    def gains(self, tree: GameTree) -> list[int]:
        """Return how much P(left) exceeds e^ε P(right) for each pair of the last round, else 0."""
        assert self.factor is not None
        up, down = self.factor[0].numerator, self.factor[0].denominator
        shares = [
            probability * (tree.unit // node.count)
            for probability, node in zip(self.learner, tree.published, strict=True)
        ]
        return [
            pair.count * (shares[pair.left] * down - shares[pair.right] * up) if pair.last else 0
            for pair in tree.pairs
        ]

    def _best_attack(self, tree: GameTree) -> int:
        """Return the largest gain of an attacker that chooses the examples and the difference."""
        best = [max(0, gain) for gain in self.gains(tree)]
        together = [0] * len(tree.published)
        for number in range(len(tree.splits) - 1, -1, -1):  # a split precedes its pairs
            split = tree.splits[number]
            gain = sum(best[pair] for pair in split.pairs)
            place, where = (together, split.node) if split.before < 0 else (best, split.before)
            place[where] = max(place[where], gain)
        for number in _upwards(tree):
            for row in tree.published[number].rows.values():
                nodes = tree.received[row].nodes.values()
                together[number] = max(together[number], sum(together[node] for node in nodes))
        return sum(together[node] for node in tree.received[ROOT].nodes.values())

    def lower_end(self, tree: GameTree) -> Fraction:
        """Return the mistakes that the two adversaries force on every private learner."""
        down = 1 if self.factor is None else self.factor[1].denominator
        costs = self._costs(tree, down * tree.unit)
        if self.factor is not None:
            self._charge(tree, costs)
        best: dict[int, int] = {}
        for number in _upwards(tree):
            rows = map(tree.received.__getitem__, tree.published[number].rows.values())
            best[number] = costs[number] + sum(
                min(best[node] for node in row.nodes.values()) for row in rows
            )
        least = min(best[node] for node in tree.received[ROOT].nodes.values())
        paid = self.price * self.delta if self.factor is not None else 0
        return Fraction(least, self.scale * down * tree.unit) - Fraction(paid) / self.scale

    def _costs(self, tree: GameTree, unit: int) -> list[int]:
        """Return what each history costs the learner in mistakes, by the realizable adversary."""
        costs = [0] * len(tree.published)
        if any(flow < 0 for flow in self.adversary.values()):
            raise LittlestoneError("the adversary has negative probabilities")
        for number, node in enumerate(tree.published):
            if not node.fitting:
                continue
            coming = self.scale if node.row == ROOT else self.adversary.get(node.row, 0)
            if node.level == tree.rounds:
                costs[number] = coming * tree.costs(node) * unit
                continue
            going = 0
            for row in node.rows.values():
                after = tree.received[row]
                flow = self.adversary.get(row, 0) if after.fitting else 0
                going += flow
                costs[number] += flow * after.mistake * unit
            if going > coming:
                raise LittlestoneError("the adversary's probabilities add up to more than one")
        return costs

    def _charge(self, tree: GameTree, costs: list[int]) -> None:
        """Add the attacker's gains to the costs."""
        assert self.factor is not None
        if self.delta:
            self._check_attacker(tree)
        elif any(flow < 0 for flow in self.ends.values()):
            raise LittlestoneError("the attacker has negative probabilities")
        up, down = self.factor[1].numerator, self.factor[1].denominator
        for number, flow in self.ends.items():
            pair = tree.pairs[number]
            if not pair.last:
                raise LittlestoneError("the attacker ends before the last round")
            weight = flow * pair.count
            costs[pair.left] += weight * (tree.unit // tree.published[pair.left].count) * down
            costs[pair.right] -= weight * (tree.unit // tree.published[pair.right].count) * up

    def _check_attacker(self, tree: GameTree) -> None:
        """Check that no more weight leaves a history than enters it; the price enters first."""
        flows = (*self.waits.values(), *self.splits.values(), *self.ends.values(), self.price)
        if any(flow < 0 for flow in flows):
            raise LittlestoneError("the attacker has negative probabilities")
        together, apart = [0] * len(tree.published), [0] * len(tree.pairs)
        for row, flow in self.waits.items():
            together[tree.received[row].before] += flow
        for number, flow in self.splits.items():
            split = tree.splits[number]
            place, where = _origin(split, together, apart)
            place[where] += flow
        for number, flow in self.ends.items():
            apart[number] += flow
        for number, going in enumerate(together):
            row = tree.published[number].row
            if going > (self.price if row == ROOT else self.waits.get(row, 0)):
                raise LittlestoneError("the attacker's probabilities add up to more than one")
        for number, going in enumerate(apart):
            if going > self.splits.get(tree.pairs[number].split, 0):
                raise LittlestoneError("the attacker's probabilities add up to more than one")


def _origin(split: Split, together: list[int], apart: list[int]) -> tuple[list[int], int]:
    return (together, split.node) if split.before < 0 else (apart, split.before)


def _upwards(tree: GameTree) -> Any:
    """Return the histories, longest first."""
    return reversed(range(len(tree.published)))  # each follows its prefix
