"""A game leaves behind totals, a curve of fixed size, and the first rounds on request."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from littlestone.concepts.protocols import Hypothesis, Label, Point

_CURVE_POINTS: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round as it was played."""

    number: int
    hypothesis: Hypothesis
    x: Point
    y: Label
    mistake: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The outcome of a game. Its size does not depend on the number of rounds."""

    learner: str
    adversary: str
    rounds: int
    mistakes: int
    fewest_mistakes: int | None
    """Those of the best concept in hindsight; None where the class cannot tell."""
    switches: int
    """How often the published hypothesis changed."""
    curve: tuple[tuple[int, int], ...]
    """Rounds and the mistakes up to and including them, at fixed checkpoints."""
    regret_curve: tuple[tuple[int, int], ...]
    """Rounds and the regret after them; empty where the best so far is known only at the end."""
    record: tuple[Round, ...]
    private: bool
    """Whether the randomness was the operating system's; seeded games are never private."""
    seconds: float

    @property
    def regret(self) -> int | None:
        return None if self.fewest_mistakes is None else self.mistakes - self.fewest_mistakes

    @property
    def known_regret(self) -> int:
        """The regret; ValueError where the class cannot tell the best concept in hindsight."""
        if self.regret is None:
            raise ValueError(f"the regret of {self.learner} is not known: its class cannot tell")
        return self.regret

    def text(self) -> str:
        """All that the parties decided, and nothing that depends on the machine."""
        lines = [
            f"learner    {self.learner}",
            f"adversary  {self.adversary}",
            f"rounds     {self.rounds}",
            f"mistakes   {self.mistakes}",
            f"regret     {'unknown' if self.regret is None else self.regret}",
            f"switches   {self.switches}",
            "curve      " + " ".join(f"{number}:{mistakes}" for number, mistakes in self._rises()),
        ]
        lines += [
            f"{entry.number:>7}  x={entry.x!r} y={entry.y} {'WRONG' if entry.mistake else 'right'}"
            f"  [{entry.hypothesis.describe()}]"
            for entry in self.record
        ]
        return "\n".join(lines) + "\n"

    def _rises(self) -> Iterator[tuple[int, int]]:
        """The checkpoints at which the number of mistakes was no longer the same."""
        before = 0
        for number, mistakes in self.curve:
            if mistakes != before:
                yield number, mistakes
            before = mistakes

    def to_json(self) -> dict[str, Any]:
        """A JSON object with everything; points that JSON cannot hold are written as text."""
        return {
            "learner": self.learner,
            "adversary": self.adversary,
            "rounds": self.rounds,
            "mistakes": self.mistakes,
            "fewest_mistakes": self.fewest_mistakes,
            "regret": self.regret,
            "switches": self.switches,
            "private": self.private,
            "seconds": self.seconds,
            "curve": [list(point) for point in self.curve],
            "record": [
                {
                    "round": entry.number,
                    "hypothesis": entry.hypothesis.to_json(),
                    "x": entry.x if isinstance(entry.x, int | str) else repr(entry.x),
                    "y": entry.y,
                    "mistake": entry.mistake,
                }
                for entry in self.record
            ],
        }


def checkpoints(rounds: int) -> list[int]:
    """The rounds after which the curve has a point: some evenly spaced, some logarithmically.

    >>> checkpoints(5)
    [1, 2, 3, 4, 5]
    >>> len(checkpoints(10**9)) < 256, checkpoints(10**9)[-1]
    (True, 1000000000)
    """
    steps = range(1, _CURVE_POINTS + 1)
    even = {-(-rounds * i // _CURVE_POINTS) for i in steps}
    logarithmic = {round(rounds ** (i / _CURVE_POINTS)) for i in steps}
    return sorted(even | logarithmic)
