"""All finite sets of plain keys: what a list of senders, devices or words can become."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from littlestone.concepts.classes.sparse_sets import SparseSets, SparseVersionSpace
from littlestone.concepts.domain import AnyHashable
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Tally
from littlestone.concepts.trackers import SparseTracker

_MORE_THAN_EVER: Final = SparseSets(1 << 62)  # no stream is long enough to notice the difference


@dataclass(frozen=True, slots=True)
class KeySets:
    """Any finite set of keys maps to 1, and everything else to 0.

    Its Littlestone dimension is infinite: whatever learns it makes mistakes for each key. A learner
    of it promises so many for each.

    >>> KeySets().version_space().restrict("a", 1).standard_optimal().describe()
    "1 on 'a', 0 elsewhere"
    """

    @property
    def domain(self) -> AnyHashable:
        return AnyHashable()

    @property
    def spec(self) -> str:
        return "keys"

    @property
    def size(self) -> None:
        return None

    @property
    def largest_set(self) -> None:
        return None

    @property
    def littlestone_dimension(self) -> int:
        self._refuse("Littlestone")

    @property
    def vc_dimension(self) -> int:
        self._refuse("VC")

    @property
    def dual_littlestone_dimension(self) -> int:
        self._refuse("dual Littlestone")

    @property
    def dual_vc_dimension(self) -> int:
        self._refuse("dual VC")

    def version_space(self) -> SparseVersionSpace:
        return _MORE_THAN_EVER.version_space()

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Each key has the label that it came with more often."""
        for x in tally:
            self.domain.check(x)
        return sum(min(counts) for counts in tally.values())

    def concepts(self) -> Iterator[FiniteSupport]:
        return _MORE_THAN_EVER.concepts()

    def tracker(self) -> SparseTracker:
        return _MORE_THAN_EVER.tracker()

    def _refuse(self, name: str) -> NoReturn:
        raise ValueError(
            f"the {name} dimension of all finite sets of keys is infinite; "
            "SparseSets(k), the sets of at most k keys, have dimension k"
        )
