"""Draw an expert by prior mass times exponential weight, exactly, without listing the experts."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from littlestone.learners.sanitized.paths import Paths, PredictorLosses
from littlestone.privacy.mechanisms.noise.integer_weights import WeightTable
from littlestone.randomness import Randomness


@dataclass(init=False, eq=False, repr=False)
class GroupDraw:
    """Draw the group of an expert: the drawing of the strategies in ``learners/experts/``.

    Weights are laid out after each branching and every ``refresh`` rounds. In between an element is
    proposed by its old weight and accepted with probability new weight / old weight, so accepted
    elements have exactly the law of the new weights.

    Privacy (of each draw):
        Releases:   the number of one group
        Neighbours: streams that differ in one example, given the same released points
        Adversary:  adaptive; losses may depend on everything released before
        Guarantee:  (2 * rate, 0); its log-likelihood ratio spans at most 2 * rate
        Assumes:    timing (docs/GUARANTEES.md): the number of proposals depends on the losses
        Proof:      draw.md
    """

    _age: int | None
    _old_losses: dict[int, int]

    def __init__(
        self,
        paths: Paths,
        losses: PredictorLosses,
        table: WeightTable,
        *,
        refresh: int,
        rng: Randomness,
    ) -> None:
        self._paths, self._losses, self._table, self._rng = paths, losses, table, rng
        self._refresh, self._age, self._old_losses = refresh, None, {}

    def passed(self, rounds: int) -> None:
        """Record that the losses have grown by ``rounds`` rounds."""
        if self._age is not None:
            self._age += rounds

    def changed(self) -> None:
        """Record that the groups have changed."""
        self._age = None

    def draw(self) -> int:
        """Draw the number of one group."""
        if self._age is None or self._age >= self._refresh:
            self._losses.settle()
            self._lay_out(self._paths.losses_now())
            self._age = 0
        weights, level, rng = self._table.weights, self._table.level, self._rng
        while True:
            element = bisect_right(self._ends, rng.below(self._ends[-1]))  # (L3)
            group, predictor, before = self._elements[element]
            grown = self._losses.of(predictor) - self._old_losses[predictor]
            if not grown:
                return group
            excess = before - self._least
            # (L4)
            if rng.below(weights[level(excess)]) < weights[level(excess + grown)]:
                return group

    def pick(self, choices: Sequence[tuple[int, int]]) -> int:
        """Draw one of these groups by the whole number beside it; reads no losses."""
        ends = list(accumulate(weight for _, weight in choices))
        return choices[bisect_right(ends, self._rng.below(ends[-1]))][0]

    def loaded(self) -> None:
        """Lay out the restored weights again."""
        if self._age is not None:
            self._lay_out(self._old_losses)

    def _lay_out(self, past: dict[int, int]) -> None:
        """Give every group and loss a stretch as long as its weight."""
        self._old_losses = past
        elements = list(self._paths.elements(past))
        self._least = min(loss for _, _, loss, _ in elements)  # (L1)
        self._elements = [(group, predictor, loss) for group, predictor, loss, _ in elements]
        self._ends = list(accumulate(weigh(elements, self._table, self._least)))  # (L2)


def weigh(
    elements: Iterable[tuple[int, int, int, int]], table: WeightTable, least: int
) -> Iterator[int]:
    """Yield, for each element, its mass times the table's weight of the loss above the least."""
    weights, last = table.weights, len(table.weights) - 1
    for _, _, loss, mass in elements:
        level = loss - least
        yield mass * weights[level if level < last else last]
