"""Compute a learner's expected mistakes against its worst adversary, by enumeration."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT, Mass
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.concepts.classes.finite import tabulated
from littlestone.errors import LittlestoneError
from littlestone.game.protocols import OnlineLearner
from littlestone.game.state_run import StatePlayer

_NEGLIGIBLE: Final = Fraction(1, 1 << 30)
_MOST_RUNS: Final = 100_000
_MOST_ROUNDS: Final = 64

Labelled = tuple[int, int]
"""The column of a point, and a label."""
View = tuple[bytes, ...]
"""The labels of all points by each published hypothesis."""


@dataclass(frozen=True, slots=True)
class WorstMistakes:
    """Two rational bounds on a learner's largest expected number of mistakes."""

    low: Fraction
    high: Fraction
    runs: int


@require.checked
def worst_mistakes(recipe: Any, *, rounds: int, most: int = _MOST_RUNS) -> WorstMistakes:
    """Enumerate a learner's coins against every realizable adversary that sees each hypothesis.

    In each round the learner publishes, the adversary sees it and answers with an example that
    fits some concept together with all earlier ones. The law of what is published is enumerated
    for each sequence of examples; the best adversary follows by induction from the last round.

    Args:
        recipe: A learner of a finite class on finitely many points.
        rounds: How many rounds are played.
        most: Runs of the learner, for each sequence of examples and altogether.

    Returns:
        Both bounds; they differ by the mass of omitted runs.

    Raises:
        LittlestoneError: More runs than ``most`` are necessary, or a coin is not enumerable.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
    >>> learner = NaiveRecomposition(concepts=Thresholds(1), rounds=2, epsilon=1.0, delta=0.01)
    >>> round(float(worst_mistakes(learner, rounds=2).low), 3)
    1.42
    """
    require.integer(most=most, at_least=1)
    require.integer(rounds=rounds, at_least=1, at_most=_MOST_ROUNDS)
    if isinstance(recipe, type) or not (hasattr(recipe, "start") and hasattr(recipe, "concepts")):
        raise TypeError(f"recipe must be a learner of a class, got {type(recipe).__name__}")
    with enumerable():
        return _Worst(recipe, rounds, most).found()


class _Worst:
    def __init__(self, recipe: Any, rounds: int, most: int) -> None:
        table, _, columns = tabulated(recipe.concepts)
        self._concepts, self._rounds, self._most = recipe.concepts, rounds, most
        self._player: Any = StatePlayer(recipe) if isinstance(recipe, OnlineLearner) else recipe
        self._matrix: NDArray[np.uint8] = table.matrix
        self._points = list(columns)
        # A concept fits at least this many sequences of examples, each of which is played.
        if len(self._points) ** (rounds - 1) > most:
            raise LittlestoneError(f"more than {most} runs; take fewer rounds or a smaller class")
        self._laws: dict[tuple[Labelled, ...], Law] = {}
        self._runs = 0

    def found(self) -> WorstMistakes:
        low, high = self._from((), None, np.ones(len(self._matrix), dtype=np.bool_))
        # Omitted runs may err in every round.
        missing = max(law.missing for law in self._laws.values()) * self._rounds
        return WorstMistakes(
            Fraction(low, UNIT),
            Fraction(min(high + missing, self._rounds * UNIT), UNIT),
            self._runs,
        )

    def _from(
        self, examples: tuple[Labelled, ...], seen: View | None, fitting: NDArray[np.bool_]
    ) -> tuple[int, int]:
        """Return bounds on the further mistakes, times the probability of what was seen."""
        low = high = 0
        start = len(seen or ())
        for view, mass in self._law(examples).items():
            if view[:start] != (seen or ()):
                continue
            best = self._best(examples, view, mass, fitting)
            low, high = low + best[0], high + best[1]
        return low, high

    def _best(
        self, examples: tuple[Labelled, ...], view: View, mass: Mass, fitting: NDArray[np.bool_]
    ) -> tuple[int, int]:
        low = high = 0
        labels = np.frombuffer(view[-1], dtype=np.uint8)
        for point in range(len(self._points)):
            for label in (0, 1):
                left = fitting & (self._matrix[:, point] == label)
                if not left.any():
                    continue
                mistake = int(labels[point] != label)
                after = (0, 0)
                if len(view) < self._rounds:
                    after = self._from((*examples, (point, label)), view, left)
                low = max(low, mistake * mass.low + after[0])
                high = max(high, mistake * mass.high + after[1])
        return low, high

    def _law(self, examples: tuple[Labelled, ...]) -> dict[Any, Mass]:
        if examples not in self._laws:
            law = law_of(
                lambda tape: self._play(tape, examples),
                rounds=self._rounds,
                negligible=int(_NEGLIGIBLE * UNIT),
                most=self._most - self._runs,
            )
            self._runs += law.runs
            self._laws[examples] = law
        return self._laws[examples].views

    def _play(self, tape: Tape, examples: Sequence[Labelled]) -> View:
        run = self._player.start(rng=tape)
        block = self._concepts.domain.check_many(self._points)
        view = [_labels(run.hypothesis, block)]
        for point, label in examples:
            run.observe(self._points[point], label)
            tape.left -= 1
            view.append(_labels(run.hypothesis, block))
        return tuple(view)


def _labels(hypothesis: Any, block: Any) -> bytes:
    return bytes(np.asarray(hypothesis.many(block), dtype=np.uint8).tobytes())
