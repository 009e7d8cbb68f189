"""What every adversary owes to the game."""

import pickle
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.battery import (
    ADVERSARIES,
    CLASSES,
    NEED_A_DIMENSION,
    REALIZABLE,
    WITHOUT_DIMENSION,
    adversaries_for,
    learners_for,
)

from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.thresholds import ThresholdVersionSpace
from littlestone.concepts.protocols import ConceptClass, Hypothesis, OnlineClass
from littlestone.game import play as game_loop
from littlestone.game.adversaries.boundary import Boundary
from littlestone.game.play import play
from littlestone.game.protocols import Adversary, BlockAttack
from littlestone.game.transcript import Transcript
from littlestone.randomness import Randomness, seeded

PAIRS = [(adversary, concepts) for concepts in CLASSES for adversary in adversaries_for(concepts)]


def is_adaptive(adversary: str, concepts: str) -> bool:
    return ADVERSARIES[adversary](CLASSES[concepts]).adaptive


def classes_for(adversary: str) -> list[str]:
    return [concepts for concepts in CLASSES if adversary in adversaries_for(concepts)]


every_adversary = pytest.mark.parametrize("adversary", ADVERSARIES)
# Peeking over every other class, and not peeking over the rest; `make slow` does both over all.
peeks = pytest.mark.parametrize(
    ("peek", "first"),
    [
        pytest.param(False, 0, id="False"),
        pytest.param(True, 1, id="True"),
        pytest.param(False, 1, id="False, the rest", marks=pytest.mark.slow),
        pytest.param(True, 0, id="True, the rest", marks=pytest.mark.slow),
    ],
)
adaptive_somewhere = sorted({pair[0] for pair in PAIRS if is_adaptive(*pair)})


@dataclass(frozen=True)
class Wandering:
    """A learner that publishes something else every few rounds.

    What it publishes depends on every example so far, so that games that differ anywhere differ
    in what follows.
    """

    concepts: ConceptClass
    rounds: ClassVar[None] = None
    oblivious_only: ClassVar[bool] = False

    def start(self, *, rng: Randomness) -> "WanderingRun":
        return WanderingRun(self.concepts, rng.generator())


class WanderingRun:
    def __init__(self, concepts: ConceptClass, generator: np.random.Generator) -> None:
        self._check = concepts.domain.check
        self._choices = list(islice(concepts.concepts(), 12))
        self._choices.append(concepts.version_space().consistent())
        self._generator = generator
        self._digest = 0
        self._wander()

    def _wander(self) -> None:
        drawn = int(self._generator.integers(2**32)) ^ self._digest
        self.hypothesis: Hypothesis = self._choices[drawn % len(self._choices)]
        self._wait = int(self._generator.choice([1, 2, 5, 90]))

    def observe(self, x: Any, y: int, /) -> None:
        self._digest = zlib.crc32(repr((x, y)).encode(), self._digest)
        self._wait -= 1
        if not self._wait:
            self._wander()

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        before = self.hypothesis
        for taken, (x, y) in enumerate(zip(xs, ys.tolist(), strict=True), start=1):
            self.observe(self._check(x), y)
            if self.hypothesis != before:
                return taken
        return len(ys)


def rounds_for(concepts: OnlineClass) -> int:
    # Halfspaces are exact, with fractions that grow; one class meets the longest blocks.
    if isinstance(concepts, MarginHalfspaces):
        return 30
    return 500 if concepts is CLASSES["thresholds"] else 60


def transcript_of(adversary: Adversary, learner: Any, seed: int, **options: Any) -> Transcript:
    """A game whose curve has two points, since blocks end wherever it has one."""
    rounds = rounds_for(adversary.concepts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(game_loop, "checkpoints", lambda rounds: [rounds // 3, rounds])
        return play(learner, adversary, rounds=rounds, rng=seeded(seed), **options)


@every_adversary
@peeks
def test_blocks_and_single_rounds_give_the_same_transcript(
    adversary: str, peek: bool, first: int, rng: Randomness
) -> None:
    for concepts in classes_for(adversary)[first::2]:
        check_blocks(adversary, concepts, peek, rng)


def check_blocks(adversary: str, concepts: str, peek: bool, rng: Randomness) -> None:
    space = CLASSES[concepts]
    foe = ADVERSARIES[adversary](space)
    assert isinstance(foe.start(rng=seeded(0)), BlockAttack)
    seed = rng.below(2**32)
    # Who sees what is between the loop and the adversary: of one learner it is seen, too.
    others = [] if peek else learners_for(concepts).values()
    for learner in (Wandering(space), *others):
        scalar = transcript_of(foe, learner, seed, peek=peek, blocks=False).text()
        assert transcript_of(foe, learner, seed, peek=peek).text() == scalar
        # Recorded rounds are played one by one: switching between the two must not matter.
        mixed = transcript_of(foe, learner, seed, peek=peek, record=30)
        assert replace(mixed, record=()).text() == scalar


@pytest.mark.parametrize("adversary", REALIZABLE)
@peeks
def test_realizable_adversaries_keep_their_word(
    adversary: str, peek: bool, first: int, rng: Randomness
) -> None:
    for concepts in classes_for(adversary)[first::2]:
        check_its_word(adversary, concepts, peek, rng)


def check_its_word(adversary: str, concepts: str, peek: bool, rng: Randomness) -> None:
    space = CLASSES[concepts]
    foe = ADVERSARIES[adversary](space)
    assert foe.realizable
    # The referee would raise NotRealizableError.
    rounds = rounds_for(space)
    game = play(Wandering(space), foe, rounds=rounds, rng=rng, peek=peek, record=rounds)
    left = space.version_space()
    for entry in game.record:
        left = left.restrict(entry.x, entry.y)
    assert not left.is_empty


def test_a_recipe_is_a_value() -> None:
    for pair in PAIRS:
        check_that_it_is_a_value(*pair)


def check_that_it_is_a_value(adversary: str, concepts: str) -> None:
    recipe, again = (ADVERSARIES[adversary](CLASSES[concepts]) for _ in range(2))
    assert recipe == again
    assert hash(recipe) == hash(again)
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    with pytest.raises(AttributeError):
        recipe.concepts = CLASSES[concepts]  # type: ignore[misc]


def games_against_two_constants(adversary: str, concepts: str, seed: int) -> list[list[Any]]:
    """Twenty examples each, against learners that always publish the same concept."""
    space = CLASSES[concepts]
    games = []
    for published in islice(space.concepts(), 2):
        attack = ADVERSARIES[adversary](space).start(rng=seeded(seed))
        games.append([attack.choose(published if i else None) for i in range(20)])
    return games


def test_an_oblivious_adversary_ignores_what_is_published(rng: Randomness) -> None:
    for adversary, concepts in PAIRS:
        # With a single concept there are no two things to publish.
        if not is_adaptive(adversary, concepts) and concepts != "single":
            one, other = games_against_two_constants(adversary, concepts, rng.below(2**32))
            assert one == other, (adversary, concepts)


@pytest.mark.parametrize("adversary", adaptive_somewhere)
def test_an_adaptive_adversary_reads_what_is_published(adversary: str) -> None:
    games = (
        games_against_two_constants(adversary, concepts, seed=7)
        for concepts in classes_for(adversary)
        if is_adaptive(adversary, concepts)
    )
    assert any(one != other for one, other in games)


@every_adversary
def test_planning_changes_nothing(adversary: str, rng: Randomness) -> None:
    for concepts in classes_for(adversary):
        check_planning(adversary, concepts, rng)


def check_planning(adversary: str, concepts: str, rng: Randomness) -> None:
    space, seed = CLASSES[concepts], rng.below(2**32)
    foe = ADVERSARIES[adversary](space)
    plain, planned = foe.start(rng=seeded(seed)), foe.start(rng=seeded(seed))
    assert isinstance(planned, BlockAttack)
    other, published = islice(chain(space.concepts(), space.concepts()), 2)
    for i in range(24 if rounds_for(space) > 30 else 12):
        seen = None if i == 0 else published if i % 7 else other
        for most in (1, 5, 40):
            xs, ys = planned.plan(seen, most)
            assert 1 <= len(xs) == len(ys) <= most
        if i % 3 == 0:
            planned.plan(other, 3)  # and neither does a plan for something else
        first = space.domain.check(planned.plan(seen, 4)[0][0])
        example = plain.choose(seen)
        assert first == example[0]
        assert planned.choose(seen) == example


def test_spread_mistakes_repeats_a_point_only_when_it_must() -> None:
    space = CLASSES["thresholds"]
    published = list(space.concepts())[-1]  # 0 everywhere
    attack = ADVERSARIES["spread-mistakes"](space).start(rng=seeded(0))
    attack.choose(published)
    played = [attack.choose(published) for _ in range(20)]
    assert max(Counter(played).values()) == 1
    assert {x for x, _ in played} == set(range(20))


def test_keep_dimension_spends_no_dimension_on_a_stubborn_hypothesis() -> None:
    space = CLASSES["thresholds"]  # 22 concepts: dimension 4, which 16 of them still have
    published = list(space.concepts())[-1]
    attack = ADVERSARIES["keep-dimension"](space).start(rng=seeded(0))
    left = space.version_space()
    for _ in range(100):
        x, y = attack.choose(published)
        assert published(x) != y
        left = left.restrict(x, y)
    assert left.dimension == space.littlestone_dimension
    assert isinstance(left, ThresholdVersionSpace) and left.size == 16


def test_frequent_killer_attacks_what_was_published_before() -> None:
    space = CLASSES["thresholds"]
    low, high = list(space.concepts())[3], list(space.concepts())[17]
    attack = ADVERSARIES["frequent-killer"](space).start(rng=seeded(0))
    attack.choose(low)
    attack.choose(high)
    played = [attack.choose(high) for _ in range(20)]
    assert any(low(x) != y and high(x) == y for x, y in played)
    assert any(high(x) != y for x, y in played)


def test_boundary_plays_beside_the_change_of_the_published_label() -> None:
    space = CLASSES["thresholds"]
    concepts = list(space.concepts())
    attack = Boundary(space, target=concepts[12]).start(rng=seeded(0))
    assert attack.choose(concepts[5]) == (5, 0)
    assert attack.choose(concepts[19]) == (18, 1)
    x, y = attack.choose(concepts[12])
    assert y == concepts[12](x)


@pytest.mark.parametrize("adversary", NEED_A_DIMENSION)
@pytest.mark.parametrize("concepts", WITHOUT_DIMENSION)
def test_what_needs_a_dimension_refuses_to_start_without(adversary: str, concepts: str) -> None:
    with pytest.raises(ValueError, match="standard optimal prediction"):
        ADVERSARIES[adversary](CLASSES[concepts]).start(rng=seeded(0))
