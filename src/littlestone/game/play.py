"""Play a game between a learner and an adversary, over examples or losses."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.game.protocols import (
    Adversary,
    Arbiter,
    Attack,
    BlockAttack,
    BlockRun,
    FollowingRun,
    Learner,
    LearnerRun,
    OnlineLearner,
    Opponent,
    Player,
)
from littlestone.game.referee import Referee
from littlestone.game.state_run import as_player
from littlestone.game.transcript import Round, Transcript, checkpoints
from littlestone.randomness import Randomness

_SINGLE_ROUNDS: Final = 16
"""Rounds played singly before an adversary that decides every round gets another try at a plan."""
_FIRST_BLOCK: Final = 64
_LARGEST_BLOCK: Final = 1 << 16


@require.checked
def play(
    learner: Learner | OnlineLearner,
    adversary: Adversary,
    *,
    rounds: int,
    rng: Randomness,
    peek: bool = False,
    record: int = 0,
    progress: Callable[[int], None] | None = None,
    even_if_oblivious_only: bool = False,
    blocks: bool = True,
) -> Transcript:
    """Play ``rounds`` rounds; each side gets its own stream of randomness.

    In round t the learner has published h_t; the adversary, who knows h_1 .. h_{t-1}, chooses the
    example; it counts as a mistake if h_t errs on it; the learner observes it. With ``peek`` the
    adversary knows h_t too, which is more than the paper allows.

    Args:
        peek: Whether the adversary sees h_t before it chooses the example of round t.
        record: How many first rounds the transcript keeps.
        progress: Called with the number of rounds played, a few hundred times.
        even_if_oblivious_only: Play an adaptive adversary against a learner that promises accuracy
            only against oblivious ones.
        blocks: False plays every round separately: slower, with the same transcript (the same law,
            if the learner draws at random).

    Raises:
        ValueError: A bad example, named by its round, before the learner sees it.
        NotRealizableError: The adversary promised a consistent concept and contradicts itself.

    >>> from littlestone.game.adversaries.mistake_forcing import MistakeForcing
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.online.standard_optimal import StandardOptimal
    >>> from littlestone.randomness import seeded
    >>> concepts = Thresholds(1000)
    >>> learner, adversary = StandardOptimal(concepts), MistakeForcing(concepts)
    >>> play(learner, adversary, rounds=10**6, rng=seeded(7)).mistakes
    9
    """
    if learner.concepts != adversary.concepts:
        raise ValueError(
            f"both sides need the same class, got learner.concepts={learner.concepts!r} and "
            f"adversary.concepts={adversary.concepts!r}"
        )
    return play_out(
        as_player(learner),
        adversary,
        Referee(adversary.concepts, realizable=adversary.realizable),
        rounds=rounds,
        rng=rng,
        peek=peek,
        record=record,
        progress=progress,
        even_if_oblivious_only=even_if_oblivious_only,
        blocks=blocks,
    )


def _refuse_mismatch(
    learner: Player, adversary: Opponent, rounds: int, even_if_oblivious_only: bool
) -> None:
    """Raise a ValueError for a game outside the learner's promise."""
    require.integer(rounds=rounds, at_least=1)
    if learner.rounds is not None and rounds > learner.rounds:
        raise ValueError(
            f"rounds must be at most the learner's {learner.rounds}, got rounds={rounds}"
        )
    if learner.oblivious_only and adversary.adaptive and not even_if_oblivious_only:
        raise ValueError(
            f"{type(learner).__name__} promises accuracy against oblivious adversaries only, and "
            f"{type(adversary).__name__} is adaptive; choose an oblivious one (--adversary "
            f"random), or play anyway with even_if_oblivious_only=True (--even-oblivious-only)"
        )


def play_out(
    learner: Player,
    adversary: Opponent,
    referee: Arbiter,
    *,
    rounds: int,
    rng: Randomness,
    peek: bool = False,
    record: int = 0,
    progress: Callable[[int], None] | None = None,
    even_if_oblivious_only: bool = False,
    blocks: bool = True,
) -> Transcript:
    """Play a game of any kind, with the options of ``play``."""
    _refuse_mismatch(learner, adversary, rounds, even_if_oblivious_only)
    require.integer(record=record, at_least=0)
    # A shared stream would let the adversary's draws reveal the learner's noise.
    learner_rng, adversary_rng = rng.spawn(2)
    began = time.perf_counter()
    game = _Game(
        run=learner.start(rng=learner_rng),
        attack=adversary.start(rng=adversary_rng),
        referee=referee,
        peek=peek,
        blocks=blocks,
        adaptive=adversary.adaptive,
    )
    curve, regrets = [], []
    for checkpoint in checkpoints(rounds):
        game.play_until(checkpoint, record=record)
        curve.append((checkpoint, game.mistakes))
        best = referee.fewest_so_far()
        if best is not None:
            regrets.append((checkpoint, game.mistakes - best))
        if progress is not None:
            progress(checkpoint)
    return Transcript(
        learner=repr(learner),
        adversary=repr(adversary),
        rounds=rounds,
        mistakes=game.mistakes,
        fewest_mistakes=referee.fewest_mistakes(),
        switches=game.switches,
        curve=tuple(curve),
        regret_curve=tuple(regrets),
        record=tuple(game.record),
        private=rng.private,
        seconds=time.perf_counter() - began,
    )


class _Game:
    """A game under way: what both sides know, and the running totals."""

    def __init__(
        self,
        *,
        run: LearnerRun,
        attack: Attack,
        referee: Arbiter,
        peek: bool,
        blocks: bool,
        adaptive: bool,
    ) -> None:
        self.referee = referee
        self.played = 0
        self.mistakes = 0
        self.switches = 0
        self.record: list[Round] = []
        self._run = run
        self._attack = attack
        self._peek = peek
        self._current = run.hypothesis
        self._seen: Hypothesis | None = None
        self._most = _FIRST_BLOCK
        # Checked once: protocol checks are slow, and there are many checkpoints.
        self._until: Callable[[int], object] = lambda end: self._play_singly(end - self.played)
        if blocks and isinstance(run, BlockRun) and isinstance(attack, BlockAttack):
            self._until = partial(self._play_blocks, run, attack)
            if not adaptive and isinstance(run, FollowingRun):
                self._until = partial(self._follow, run, attack)

    def play_until(self, end: int, *, record: int) -> None:
        """Play until round ``end``; the first ``record`` rounds singly and into the record."""
        while self.played < min(record, end):
            self._play_into_record()
        self._until(end)

    def _play_into_record(self) -> None:
        published, mistakes = self._current, self.mistakes
        x, y = self._play_singly(1)
        self.record.append(
            Round(
                number=self.played, hypothesis=published, x=x, y=y, mistake=self.mistakes > mistakes
            )
        )

    def _play_singly(self, count: int) -> Any:
        """Play ``count`` rounds one by one; return the last example."""
        run, peek = self._run, self._peek
        choose, observe = self._attack.choose, run.observe
        admit, admitted, counts = self.referee.admit, self.referee.admitted, self.referee.singles
        current, seen = self._current, self._seen
        mistakes, example = 0, None
        for number in range(self.played + 1, self.played + count + 1):
            given = choose(current if peek else seen)
            try:
                example = admitted.get(given)
            except TypeError:  # a point that is not hashable
                example = None
            if example is None:
                example = admit(given, number)
            if counts is not None:
                counts[example] += 1
            x, y = example
            if current(x) != y:
                mistakes += 1
            observe(x, y)
            seen = current
            newest = run.hypothesis
            if newest is not current:
                self.switches += newest != current
                current = newest
        self.played += count
        self.mistakes += mistakes
        self._current, self._seen = current, seen
        return example

    def _follow(self, run: FollowingRun, attack: BlockAttack, end: int) -> None:
        """Play whole blocks of an adversary that does not look at what is published."""
        before = run.switches
        while self.played < end:
            xs, ys = attack.plan(None, min(self._most, end - self.played))
            points, labels = self.referee.admit_many(xs, ys, self.played + 1)
            said = run.follow(points, labels)
            attack.played(len(labels))
            self.referee.count(points, labels, self.played + 1)
            self.mistakes += int(np.count_nonzero(said != labels))
            self.played += len(labels)
            self._most = min(2 * self._most, _LARGEST_BLOCK)
        self.switches += run.switches - before
        self._current = self._seen = run.hypothesis

    def _play_blocks(self, run: BlockRun, attack: BlockAttack, end: int) -> None:
        """Play whole blocks while the adversary knows what is published, else single rounds."""
        while self.played < end:
            known = self._current if self._peek else self._seen
            if known is not self._current and known != self._current:
                # The adversary chooses the round after a change without knowing of it.
                self._play_singly(1)
                self._most = _FIRST_BLOCK
                continue
            most = min(self._most, end - self.played)
            changed = self._play_block(run, attack, known, most)
            self._most = _FIRST_BLOCK if changed else min(2 * self._most, _LARGEST_BLOCK)

    def _play_block(
        self, run: BlockRun, attack: BlockAttack, known: Hypothesis | None, most: int
    ) -> bool:
        """Play one block; return whether the published hypothesis changed."""
        xs, ys = attack.plan(known, most)
        if len(ys) == 1:  # an adversary that decides after each round
            self._play_singly(min(most, _SINGLE_ROUNDS))
            return True
        points, labels = self.referee.admit_many(xs[:most], ys[:most], self.played + 1)
        taken = run.observe_many(points, labels)
        attack.played(taken)
        points, labels = points[:taken], labels[:taken]
        self.referee.count(points, labels, self.played + 1)
        self.mistakes += int(np.count_nonzero(self._current.many(points) != labels))
        self.played += taken
        self._seen = self._current
        newest = run.hypothesis
        if newest is self._current or newest == self._current:
            return False
        self.switches += 1
        self._current = newest
        return True
