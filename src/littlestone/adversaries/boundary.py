"""Play where the published hypothesis changes its label, for a target chosen beforehand."""

from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import ClassVar, Final

from littlestone import require
from littlestone.adversaries.fitting import fits
from littlestone.adversaries.random_stream import labelled, random_concept
from littlestone.adversaries.steady_attack import Move, SteadyAttack
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import runs_of
from littlestone.concepts.protocols import ConceptClass, Domain, Example, Hypothesis, Point
from littlestone.randomness import Randomness

_FILLERS: Final = 256
_EDGES: Final = 16


@require.checked
@dataclass(frozen=True, slots=True)
class Boundary:
    """An adaptive, realizable adversary with a fixed target concept (a random one by default).

    On a range of integers it plays a wrongly labelled point beside a change of the newest known
    hypothesis' label, which tells the learner as little as a mistake can. Elsewhere, or if all of
    those are right, it plays the point where hypothesis and target first differ.
    """

    concepts: ConceptClass
    _: KW_ONLY
    target: Hypothesis | None = None

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)

    def start(self, *, rng: Randomness) -> SteadyAttack:
        generator = rng.generator()
        domain = self.concepts.domain
        target = self.target or random_concept(self.concepts, generator)
        points, labels = labelled(self.concepts, target, _FILLERS, generator)
        fillers = tuple((domain.check(x), int(y)) for x, y in zip(points, labels, strict=True))
        return SteadyAttack(domain, _Position(self.concepts, target, fillers))


@dataclass(frozen=True, slots=True)
class _Position:
    concepts: ConceptClass
    target: Hypothesis
    fillers: tuple[Example, ...]

    def move(self, seen: Hypothesis | None, /) -> Move:
        x = None if seen is None else self._wrong(seen)
        return Move(self.fillers if x is None else ((x, self.target(x)),), None)

    def _wrong(self, published: Hypothesis) -> Point | None:
        for x in edges(published, self.concepts.domain):
            if published(x) != self.target(x):
                return x
        apart = published.disagreement(self.target)
        if apart is None or not fits(self.concepts, self.target, apart):
            return None
        return apart


def edges(published: Hypothesis, domain: Domain) -> list[int]:
    """Points on both sides of changes of the label; none where points have no order."""
    if not isinstance(domain, IntegerRange):
        return []
    starts = (start for start, _, _ in islice(runs_of(published, domain.n), 1, _EDGES // 2 + 1))
    return [x for start in starts for x in (start - 1, start)]
