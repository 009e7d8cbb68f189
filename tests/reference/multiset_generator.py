"""The paper's generator for realizable sanitization, SOA on X_{m,α/2}: a tiny reference."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace
from littlestone.learners.sanitizers.queries import FiniteQueries
from littlestone.learners.sanitizers.winnow_generator import Flags
from littlestone.theory.sanitization import existence_samples_upper_bound

_MOST_MULTISETS = 200_000


def multiset_class(queries: FiniteQueries, *, members: int, share: Fraction) -> FiniteClass:
    """X_{m,a}: every multiset of m cells, mapping h to 1 if h holds on a share a of it or more.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.sanitizers.queries import queries_of
    >>> multiset_class(queries_of(Thresholds(3)), members=2, share=Fraction(1, 2)).matrix.tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    """
    require.integer(members=members, at_least=1)
    if math.comb(queries.cells + members - 1, members) > _MOST_MULTISETS:
        raise ValueError(
            f"members must be smaller: {members} of {queries.cells} cells make more than "
            f"{_MOST_MULTISETS} multisets; WinnowGenerator needs none of them"
        )
    columns = np.array([queries.column(place) for place in range(queries.cells)], dtype=np.int64)
    needed = math.ceil(share * members)
    rows = {
        (columns[list(chosen)].sum(axis=0) >= needed).tobytes()
        for chosen in itertools.combinations_with_replacement(range(queries.cells), members)
    }
    return FiniteClass([np.frombuffer(row, dtype=np.uint8) for row in sorted(rows)])


@dataclass(frozen=True, slots=True, kw_only=True)
class MultisetGenerator:
    """Flags as the standard optimal algorithm predicts them in X_{m,α/2} [P, Lemma exist].

    It errs at most Littlestone-dimension times if some multiset fits the data, as one does for
    m from ``existence_samples_upper_bound`` on. The class has up to |X|**m members.
    """

    members: int
    error: float
    """α; a multiset flags concepts with a share of at least α / 2."""

    def __post_init__(self) -> None:
        require.integer(members=self.members, at_least=1)
        require.open_probability(error=self.error)

    def start(self, queries: FiniteQueries, /) -> "MultisetState":
        return MultisetState(self.multisets(queries).version_space())

    def multisets(self, queries: FiniteQueries) -> FiniteClass:
        """X_{m,α/2} over the concepts."""
        return _multisets(queries, self.members, Fraction(self.error) / 2)

    def most_objections(self, queries: FiniteQueries, /, *, low: float, high: float) -> float:
        enough = existence_samples_upper_bound(
            vc_dimension=queries.concept_class.vc_dimension, error=self.error
        )
        separated = low <= 4 * self.error / 9 and high >= 5 * self.error / 9
        if self.members < enough or not separated or queries.labelled:
            return math.inf
        return self.multisets(queries).littlestone_dimension


class MultisetState:
    """The multisets that fit all objections so far."""

    __slots__ = ("_version_space", "flags")

    def __init__(self, version_space: FiniteVersionSpace) -> None:
        self._version_space = version_space
        labels = version_space.standard_optimal().many(
            np.arange(version_space.concept_class.domain.n)
        )
        self.flags: Flags = labels.astype(np.bool_)

    def after(self, number: int, /) -> "MultisetState":
        left = self._version_space.restrict(number, 1 - int(self.flags[number]))
        # Without any multiset left the objections were wrong; stay, for a guess is always due.
        return self if left.is_empty else MultisetState(left)


@lru_cache(maxsize=8)
def _multisets(queries: FiniteQueries, members: int, share: Fraction) -> FiniteClass:
    return multiset_class(queries, members=members, share=share)
