"""Oblivious adversaries: random points labelled by a concept, with noise or drift."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Final

import numpy as np

from littlestone import require
from littlestone.concepts.capabilities import OnALine
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.game.adversaries.attacks import Block, StreamAttack, block_sizes, fitting
from littlestone.game.adversaries.entry import AdversaryEntry
from littlestone.randomness import Randomness

_ATTEMPTS: Final = 256
_POINTS: Final = 12
_FEW: Final = 8


@require.checked
@dataclass(frozen=True, slots=True)
class RandomStream:
    """An oblivious adversary: points drawn from the domain, labelled by ``concept``.

    Without a ``concept`` each start draws one. Each label is flipped with probability
    ``noise_rate``; the stream is realizable exactly when that is 0.
    """

    concepts: ConceptClass
    _: KW_ONLY
    concept: Hypothesis | None = None
    noise_rate: float = 0.0

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.probability(noise_rate=self.noise_rate)

    @property
    def realizable(self) -> bool:
        """Whether the labels are free of noise."""
        return self.noise_rate == 0

    def start(self, *, rng: Randomness) -> StreamAttack:
        """Start the stream."""
        generator = rng.generator()
        concept = self.concept
        if concept is None:
            concept = random_concept(self.concepts, generator)
        return StreamAttack(self.concepts.domain, self._blocks(concept, generator))

    def _blocks(self, concept: Hypothesis, generator: np.random.Generator) -> Iterator[Block]:
        for size in block_sizes():
            points, labels = labelled(self.concepts, concept, size, generator)
            if self.noise_rate:
                labels ^= (generator.random(len(labels)) < self.noise_rate).view(np.uint8)
            yield points, labels


@require.checked
@dataclass(frozen=True, slots=True)
class HiddenOnes:
    """An oblivious, realizable adversary: zeros, with a block of ones at a random time.

    It proves the floors of points, sparse sets and thresholds (``theory/floors.py``). New points
    have label 0, in increasing order on a line, else at random. After a random one of the first
    ``within`` rounds there are ``length`` ones, at the next points if some concept fits that, else
    at one of them. Then zeros follow again, where possible.
    """

    concepts: ConceptClass
    _: KW_ONLY
    within: int = 200
    length: int = 16

    adaptive: ClassVar[bool] = False
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.usual_fields(self)

    def start(self, *, rng: Randomness) -> StreamAttack:
        """Start the stream."""
        return StreamAttack(self.concepts.domain, self._blocks(rng.generator()))

    def _blocks(self, generator: np.random.Generator) -> Iterator[Block]:
        domain = self.concepts.domain
        points = self._fresh(generator)
        hidden = int(generator.integers(len(points)))
        space, examples = self.concepts.version_space(), []
        for at, x in enumerate(points):
            wanted = int(hidden <= at < hidden + self.length)
            tried = ((x, wanted), (points[min(at, hidden)], wanted), (x, 1))
            for example in tried:
                left = space.restrict(*example)
                if not left.is_empty:
                    space = left
                    examples.append(example)
                    break
        if examples:
            labels = np.array([y for _, y in examples], dtype=np.uint8)
            yield block_of(domain, [x for x, _ in examples]), labels
        for size in block_sizes():
            yield labelled(self.concepts, space.consistent(), size, generator)

    def _fresh(self, generator: np.random.Generator) -> list[Point]:
        """Return about as many different points as needed; all, if there are fewer."""
        domain = self.concepts.domain
        if domain.size is not None and domain.size <= _FEW * self.within:
            everything = list(domain)
            order = generator.permutation(len(everything))[: self.within].tolist()
            points = [everything[place] for place in order]
        else:
            points = list(dict.fromkeys(domain.sample(self.within, generator)))
        return sorted(points) if isinstance(self.concepts, OnALine) else points


def random_concept(concepts: ConceptClass, generator: np.random.Generator) -> Hypothesis:
    """Return a concept that fits random labels of random points; not uniform."""
    space = concepts.version_space()
    points = concepts.domain.sample(_POINTS, generator)
    for x, y in zip(points, generator.integers(2, size=len(points)).tolist(), strict=True):
        narrowed = space.restrict(x, y)
        if not narrowed.is_empty:
            space = narrowed
    return space.consistent()


def labelled(
    concepts: ConceptClass, concept: Hypothesis, count: int, generator: np.random.Generator
) -> Block:
    """Return at most ``count`` random points that fit ``concept``, and their labels."""
    domain = concepts.domain
    for _ in range(_ATTEMPTS):
        drawn = domain.check_many(domain.sample(count, generator))
        points = fitting(concepts, concept, drawn)
        if len(points):
            return points, np.array(concept.many(points), dtype=np.uint8)
    raise ValueError(
        f"no random point fits {concept.describe()} in {concepts!r}; choose another concept"
    )


@require.checked
@dataclass(frozen=True, slots=True)
class Drifting:
    """An oblivious, agnostic adversary whose random concept changes every ``period`` rounds."""

    concepts: ConceptClass
    _: KW_ONLY
    period: int = 1000

    adaptive: ClassVar[bool] = False
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.usual_fields(self)

    def start(self, *, rng: Randomness) -> StreamAttack:
        """Start the stream."""
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


ADVERSARIES = (
    AdversaryEntry(
        "hidden-ones",
        HiddenOnes,
        "oblivious: zeros at fresh points, and ones for a while at a random time",
    ),
    AdversaryEntry("random", RandomStream, "oblivious: random points labelled by one concept"),
    AdversaryEntry("drifting", Drifting, "agnostic: the labelling concept changes on a schedule"),
)
