"""Random points are labelled by a concept that changes on a schedule."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from littlestone import require
from littlestone.adversaries.random_stream import labelled, random_concept
from littlestone.adversaries.stream_attack import Block, StreamAttack, block_sizes
from littlestone.concepts.protocols import ConceptClass
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True)
class Drifting:
    """An oblivious, agnostic adversary: every ``period`` rounds another random concept labels."""

    concepts: ConceptClass
    _: KW_ONLY
    period: int = 1000

    adaptive: ClassVar[bool] = False
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(period=self.period, at_least=1)

    def start(self, *, rng: Randomness) -> StreamAttack:
        return StreamAttack(self.concepts.domain, self._blocks(rng.generator()))

    def _blocks(self, generator: np.random.Generator) -> Iterator[Block]:
        while True:
            concept = random_concept(self.concepts, generator)
            left = self.period
            for size in block_sizes():
                points, labels = labelled(self.concepts, concept, min(size, left), generator)
                yield points, labels
                left -= len(labels)
                if not left:
                    break
