"""What reaches the mechanisms of a learner, and by how much it may differ between two worlds."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from littlestone.errors import LittlestoneError
from littlestone.learners.disjoint_batches.linear_pool import LinearPool
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelection
from littlestone.privacy.mechanisms.tree_selection import TreeSelection

Batch = tuple[Counter[Hashable], tuple[int, ...]]
"""The records of a batch with their labels, and the errors of candidates besides trees."""


class SensitivityError(LittlestoneError):
    """A mechanism saw more of one example than it was priced for."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One call of a mechanism, with its input and its answer."""

    door: str
    recipe: object
    given: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A call whose input differed between the worlds."""

    recipe: object
    before: Any
    after: Any

    def price(self) -> Fraction:
        """Return what the difference costs the changed example, in epsilon.

        The parts of one mechanism add up. A changed bit of a count and an exchanged key cost the
        whole epsilon, half an exchange half of it; a draw costs its rate times the width of the
        change of scores.
        """
        recipe = self.recipe
        if isinstance(recipe, ExponentialMechanism):
            change = np.asarray(self.after) - np.asarray(self.before)
            return recipe.eta * int(change.max() - change.min())
        if isinstance(recipe, PrivateHistogram):
            cells = 2 if recipe.neighbours == "replace" else 1
            return Fraction(recipe.epsilon) * len(_changes(self.before, self.after)) / cells
        if isinstance(recipe, IncrementalSelection):
            return Difference(recipe.mechanism, self.before, self.after).price()
        if isinstance(recipe, CountAboveThreshold | FirstFrequent | AboveThreshold | TreeSelection):
            return Fraction(recipe.epsilon)
        raise SensitivityError(f"the price of {recipe!r} is unknown; add it to Difference.price")


@dataclass(slots=True)
class Record:
    """The calls of all mechanisms in order, and where the second world differed."""

    visits: list[Visit] = field(default_factory=list)
    expected: Iterator[Visit] | None = None
    differences: list[Difference] = field(default_factory=list)
    lenient: bool = False
    """Whether differences are only recorded, for the caller to judge together."""

    def visit(self, door: str, recipe: object, given: Any, answer: Any) -> Any:
        """Record a visit, or in a replay compare it with the recorded one."""
        if self.expected is None:
            answered = answer()
            self.visits.append(Visit(door, recipe, given, answered))
            return answered
        earlier = next(self.expected, None)
        if earlier is None or (earlier.door, earlier.recipe) != (door, recipe):
            raise SensitivityError(
                f"control flow depends on the data: {door} of {recipe!r} was asked where "
                f"{'nothing' if earlier is None else earlier.door} was asked before"
            )
        self.compare(earlier, given)
        return earlier.answered

    def compare(self, earlier: Visit, given: Any) -> None:
        """Raise a SensitivityError if inputs differ by more than the mechanism declares."""
        if not _same(earlier.given, given):
            self.differences.append(Difference(earlier.recipe, earlier.given, given))
            if not self.lenient:
                self._judge(earlier.recipe, earlier.given, given)

    def _judge(self, recipe: object, before: Any, after: Any) -> None:
        if isinstance(recipe, CountAboveThreshold):
            if len(self._differing(CountAboveThreshold)) > 1:
                raise SensitivityError("more than one bit of AboveThreshold changed")
        elif isinstance(recipe, FirstFrequent):
            _compare_keys(self._differing(FirstFrequent))
        elif isinstance(recipe, AboveThreshold):
            if abs(before - after) > 1:
                raise SensitivityError(f"a query moved from {before} to {after}")
        elif isinstance(recipe, PrivateHistogram):
            _compare_counts(recipe, before, after)
        elif isinstance(recipe, ExponentialMechanism):
            _compare_scores(recipe, before, after)
        elif isinstance(recipe, IncrementalSelection):
            _compare_scores(recipe.mechanism, before, after)
        elif isinstance(recipe, TreeSelection):
            _compare_batches(before, after)
        elif isinstance(recipe, LinearPool):
            raise SensitivityError("directions were drawn near a rule that depends on the data")
        elif isinstance(recipe, CorrelatedSums):
            if len(self._differing(CorrelatedSums)) > 1:
                raise SensitivityError("more than one batch of CorrelatedSums changed")
            _compare_sums(recipe, before, after)

    def _differing(self, kind: type) -> list[Difference]:
        return [difference for difference in self.differences if type(difference.recipe) is kind]


def _same(before: Any, after: Any) -> bool:
    return bool(before == after)


def _compare_keys(differences: Sequence[Difference]) -> None:
    """Check that each world has at most one key that the other lacks, in any round."""
    for keys in ([d.before for d in differences], [d.after for d in differences]):
        if sum(key is not None for key in keys) > 1:
            raise SensitivityError("more than one key of FirstFrequent changed")


def _changes(before: Counter[Hashable], after: Counter[Hashable]) -> list[int]:
    return sorted(after[key] - before[key] for key in before | after if after[key] != before[key])


def _compare_counts(
    recipe: PrivateHistogram, before: Counter[Hashable], after: Counter[Hashable]
) -> None:
    changes = _changes(before, after)
    allowed = [[], [1], [-1]]
    if recipe.neighbours == "replace":
        allowed.append([-1, 1])
    if changes not in allowed:
        raise SensitivityError(
            f"a {recipe.neighbours} histogram saw its counts change by {changes}"
        )


def _compare_scores(
    recipe: ExponentialMechanism, before: Sequence[int], after: Sequence[int]
) -> None:
    change = np.asarray(after) - np.asarray(before)
    if int(change.max() - change.min()) > recipe.range_width:
        raise SensitivityError(
            f"scores changed by {change.min()} to {change.max()}, wider than "
            f"range_width={recipe.range_width}"
        )


def _compare_batches(before: Batch, after: Batch) -> None:
    """Raise if more than one record was exchanged, or some candidate's errors tell more of it."""
    changes = _changes(before[0], after[0])
    if changes not in ([], [1], [-1], [-1, 1]):
        raise SensitivityError(f"trees saw their records change by {changes}")
    moved = [abs(one - other) for one, other in zip(before[1], after[1], strict=True)]
    if max(moved, default=0) > 1:
        raise SensitivityError(f"the errors of another candidate moved by {max(moved)}")


def _compare_sums(recipe: CorrelatedSums, before: Sequence[int], after: Sequence[int]) -> None:
    """Raise if a sum moved by more than twice the longest vector: one vector is replaced."""
    moved = sum((int(one) - int(other)) ** 2 for one, other in zip(before, after, strict=True))
    if moved > 4 * recipe.longest_squared:
        raise SensitivityError(
            f"a sum moved by {moved}, squared, further than twice the longest vector, "
            f"longest_squared={recipe.longest_squared}"
        )
