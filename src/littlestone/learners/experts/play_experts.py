"""Play experts against losses, and private prediction against questions.

``play_experts`` uses the game loop of ``littlestone.game``; the losses are the example. An expert
is the function that reads its own loss, so it errs on (losses, 0) where that loss is 1. The
transcript's mistakes are then the loss, and its fewest mistakes those of the best expert.

In ``play_predictions`` each answer goes only to its asker, and no hypothesis is published.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.game.play import play_out
from littlestone.game.protocols import Adversary, Attack, OnlineState, Opponent
from littlestone.game.referee import Referee
from littlestone.game.transcript import Transcript, checkpoints
from littlestone.learners.experts.protocols import ExpertsRecipe
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness
from littlestone.type_checks import require_fit

Losses = NDArray[np.uint8]


class LossAdversary(Opponent, Protocol):
    """A frozen recipe for losses; an example is (losses of all experts, 0)."""

    @property
    def experts(self) -> int:
        """The number of experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNeverErrs:
    """In ``losses`` of ``rounds`` rounds, evenly spread, all experts but expert 0 have loss 1."""

    experts: int
    rounds: int
    losses: int

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(experts=self.experts, at_least=2)
        require.integer(rounds=self.rounds, at_least=1)
        if not 0 <= self.losses <= self.rounds:
            raise ValueError(
                f"losses must lie between 0 and rounds={self.rounds}, got losses={self.losses!r}"
            )

    def start(self, *, rng: Randomness) -> "ObliviousLosses":
        """Start the sequence; deterministic."""
        del rng  # deterministic
        played = 0

        def block(count: int) -> Losses:
            nonlocal played
            ends = np.arange(played, played + count + 1) * self.losses // self.rounds
            played += count
            rows = np.repeat(np.diff(ends).astype(np.uint8)[:, np.newaxis], self.experts, axis=1)
            rows[:, 0] = 0
            return rows

        return ObliviousLosses(block)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeTheSeen:
    """Charge only the expert that was seen in the round before."""

    experts: int

    adaptive: ClassVar[bool] = True

    def start(self, *, rng: Randomness) -> "ChargeTheSeenAttack":
        """Start the attack; deterministic."""
        del rng  # deterministic
        return ChargeTheSeenAttack(self.experts)


class ChargeTheSeenAttack:
    """The attack, with one loss vector for each expert."""

    def __init__(self, experts: int) -> None:
        self._charges = np.eye(experts, dtype=np.uint8)

    def choose(self, seen: Any, /) -> tuple[Any, int]:
        """Charge the expert that was seen."""
        return self._charges[0 if seen is None else seen.number], 0


class ObliviousLosses:
    """An oblivious sequence, made in blocks in advance."""

    _BLOCK: ClassVar[int] = 1024

    def __init__(self, make: Callable[[int], Losses]) -> None:
        self._make = make
        self._rows: Losses = make(0)
        self._next = 0

    def choose(self, seen: Any, /) -> tuple[Any, int]:
        """Return the losses of the next round."""
        rows, _ = self.plan(seen, 1)
        self.played(1)
        return rows[0], 0

    def plan(self, seen: Any, most: int, /) -> tuple[Losses, NDArray[np.uint8]]:
        """Return the losses of up to ``most`` rounds."""
        del seen  # oblivious
        if self._next >= len(self._rows):
            self._rows, self._next = self._make(self._BLOCK), 0
        rows = self._rows[self._next : self._next + most]
        return rows, np.zeros(len(rows), dtype=np.uint8)

    def played(self, count: int, /) -> None:
        """Advance by ``count`` rounds."""
        self._next += count


def play_experts(
    recipe: ExpertsRecipe,
    adversary: LossAdversary,
    *,
    rounds: int,
    rng: Randomness,
    even_if_oblivious_only: bool = False,
) -> Transcript:
    """Play ``rounds`` rounds; each side gets its own stream of randomness.

    In round t expert i_t is played; the adversary, who knows i_1 .. i_{t-1}, chooses the losses. An
    algorithm that promises nothing against adaptive adversaries meets one only with
    ``even_if_oblivious_only``.
    """
    if recipe.experts != adversary.experts or recipe.loss_scale != 1:
        raise ValueError(
            f"both sides need the same experts and losses 0 or 1, got {recipe!r} and {adversary!r}"
        )
    return play_out(
        recipe,
        adversary,
        _LossReferee(recipe.experts),
        rounds=rounds,
        rng=rng,
        even_if_oblivious_only=even_if_oblivious_only,
        # Blocks are faster where the expert stays for several rounds.
        blocks=recipe.oblivious_only,
    )


class _LossReferee:
    """Add up the losses of every expert; the run checks that they are valid."""

    admitted: ClassVar[Mapping[Any, Example]] = MappingProxyType({})
    singles: ClassVar[None] = None

    def __init__(self, experts: int) -> None:
        self._totals = np.zeros(experts, dtype=np.int64)

    def admit(self, example: Any, round_number: int, /) -> Any:
        del round_number
        self._totals += example[0]
        return example

    def admit_many(self, rows: Any, labels: Any, round_number: int, /) -> tuple[Losses, Any]:
        del round_number
        return rows, labels

    def count(self, rows: Losses, labels: Any, round_number: int, /) -> None:
        del labels, round_number
        self._totals += rows.sum(axis=0, dtype=np.int64)

    def fewest_so_far(self) -> int:
        return int(self._totals.min())

    fewest_mistakes = fewest_so_far


class PredictorRun(Protocol):
    """A run that answers and observes in turn."""

    def predict(self, x: Any, /) -> Label:
        """Answer the question of this round."""

    def observe(self, y: Any, /) -> None:
        """Take the true label of the point that was asked."""


class Predictor(Protocol):
    """The frozen recipe of a learner that answers questions and publishes nothing."""

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""

    @property
    def rounds(self) -> int:
        """The horizon."""

    def start(self, *, rng: Randomness) -> PredictorRun:
        """Start a run."""


@require.checked
def play_predictions(
    learner: Predictor, adversary: Adversary, *, rounds: int, rng: Randomness
) -> Transcript:
    """Play ``rounds`` rounds: the adversary chooses (x, y), the learner answers x, then sees y.

    The adversary knows all earlier answers. Adversaries are written to attack hypotheses, so it is
    shown what a learner would publish that knows the correctly answered examples: at a wrongly
    answered point this is wrong, too, and the adversary can ask there again.

    >>> from littlestone.game.adversaries.mistake_forcing import MistakeForcing
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.experts.private_prediction import PrivatePrediction
    >>> from littlestone.randomness import seeded
    >>> concepts = Thresholds(8)
    >>> learner = PrivatePrediction(concepts=concepts, rounds=100, epsilon=1.0, delta=1e-6)
    >>> play_predictions(learner, MistakeForcing(concepts), rounds=100, rng=seeded(1)).rounds
    100
    """
    require.integer(rounds=rounds, at_least=1)
    if learner.concepts != adversary.concepts or rounds > learner.rounds:
        raise ValueError(
            f"both sides need the same class and the learner {rounds} rounds, got {learner!r} and "
            f"{adversary!r}"
        )
    began = time.perf_counter()
    learner_rng, adversary_rng = rng.spawn(2)
    referee = Referee(adversary.concepts, realizable=adversary.realizable)
    run, attack = learner.start(rng=learner_rng), adversary.start(rng=adversary_rng)
    require_fit("learner.start()", run, PredictorRun)
    require_fit("adversary.start()", attack, Attack)
    game = _Predictions(run, attack, referee, StandardOptimal(learner.concepts).start())
    curve = []
    for checkpoint in checkpoints(rounds):
        while game.played < checkpoint:
            game.play_round()
        curve.append((checkpoint, game.mistakes))
    return Transcript(
        learner=repr(learner),
        adversary=repr(adversary),
        rounds=rounds,
        mistakes=game.mistakes,
        fewest_mistakes=referee.fewest_mistakes(),
        switches=0,
        curve=tuple(curve),
        regret_curve=(),
        record=(),
        private=rng.private,
        seconds=time.perf_counter() - began,
    )


class _Predictions:
    """A game in progress, with what the adversary believes the learner to know."""

    def __init__(
        self, run: PredictorRun, attack: Attack, referee: Referee, believed: OnlineState
    ) -> None:
        self._run, self._attack, self._referee = run, attack, referee
        self._start = self._believed = believed
        self._seen: Hypothesis = believed.hypothesis
        self.played = self.mistakes = 0

    def play_round(self) -> None:
        self.played += 1
        x, y = self._admitted(self._attack.choose(self._seen))
        answer = self._run.predict(x)
        self._run.observe(y)
        if answer != y:
            self.mistakes += 1
        elif self._seen(x) != y:
            after = self._believed.after(x, y)
            self._believed = self._start if after.failed else after
            self._seen = self._believed.hypothesis

    def _admitted(self, given: Any) -> Example:
        example = self._referee.admitted.get(given) or self._referee.admit(given, self.played)
        counts = self._referee.singles
        if counts is not None:
            counts[example] += 1
        return example
