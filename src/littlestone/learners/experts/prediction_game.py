"""The prediction game: each answer goes only to its asker, and no hypothesis is published."""

import time
from typing import Any, Protocol

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.game.protocols import Adversary, Attack, OnlineState
from littlestone.game.referee import Referee
from littlestone.game.transcript import Transcript, checkpoints
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness
from littlestone.type_checks import require_fit


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
