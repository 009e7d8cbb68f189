"""A transcript keeps totals, a curve of fixed size and, on request, the first rounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, Final

from littlestone import require
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transcript:
    """The outcome of a game. Its size does not depend on the number of rounds."""

    learner: str
    adversary: str
    rounds: int
    mistakes: int
    fewest_mistakes: int | None
    """The mistakes of the best concept in hindsight; None if the class cannot compute it."""
    switches: int
    """The number of changes of the published hypothesis."""
    curve: tuple[tuple[int, int], ...]
    """Rounds and the mistakes up to and including them, at fixed checkpoints."""
    regret_curve: tuple[tuple[int, int], ...]
    """Rounds and the regret after them; empty if the best concept is known only at the end."""
    record: tuple[Round, ...]
    private: bool
    """Whether the randomness was the operating system's; seeded games are never private."""
    seconds: float

    @property
    def regret(self) -> int | None:
        """Mistakes beyond those of the best concept in hindsight."""
        return None if self.fewest_mistakes is None else self.mistakes - self.fewest_mistakes

    @property
    def known_regret(self) -> int:
        """Return the regret; raise a ValueError if the best concept in hindsight is unknown."""
        if self.regret is None:
            raise ValueError(
                f"the regret of {self.learner} is not known: its class has no search for the best"
            )
        return self.regret

    def __repr__(self) -> str:
        """Return three lines that summarise the game."""
        regret = "unknown" if self.regret is None else f"{self.regret:,}"
        stamp = "" if self.private else ", seeded: not private"
        return (
            f"{self.learner:.300}\nagainst {self.adversary:.300}{stamp}\n{self.rounds:,} rounds, "
            f"{self.mistakes:,} mistakes, regret {regret}, {self.switches:,} switches"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @require.checked
    def plot(self, axes: Any = None, *, label: str | None = None) -> Any:
        """Draw the mistakes so far against the round, and return the axes; needs matplotlib."""
        if label is not None and not isinstance(label, str):
            raise ValueError(f"label must be text, got {require.shown(label)}")
        axes = axes_or_new(axes)
        rounds, mistakes = zip(*self.curve, strict=True) if self.curve else ((), ())
        axes.plot(rounds, mistakes, drawstyle="steps-post", label=label or self.learner[:60])
        axes.set_xlabel("round")
        axes.set_ylabel("mistakes so far")
        return axes

    def text(self) -> str:
        """Return everything that the parties decided; independent of the machine."""
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
        """Yield the checkpoints at which the number of mistakes has changed."""
        before = 0
        for number, mistakes in self.curve:
            if mistakes != before:
                yield number, mistakes
            before = mistakes

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with everything.

        Points that JSON cannot hold are written as text.
        """
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


def axes_or_new(axes: Any) -> Any:
    """Return the axes to draw on, new ones for None.

    Raises:
        ValueError: ``axes`` are not matplotlib axes, or matplotlib is not installed.
    """
    if axes is not None:
        if not callable(getattr(axes, "set_xlabel", None)):
            raise ValueError(f"axes must be matplotlib axes or None, got {require.shown(axes)}")
        return axes
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise ValueError("pictures need matplotlib: pip install 'littlestone[plot]'") from None
    return pyplot.subplots(layout="constrained")[1]


def checkpoints(rounds: int) -> list[int]:
    """Return the rounds at which the curve has a point, spaced evenly and logarithmically.

    >>> checkpoints(5)
    [1, 2, 3, 4, 5]
    >>> len(checkpoints(10**9)) < 256, checkpoints(10**9)[-1]
    (True, 1000000000)
    """
    steps = range(1, _CURVE_POINTS + 1)
    even = {-(-rounds * i // _CURVE_POINTS) for i in steps}
    logarithmic = {round(rounds ** (i / _CURVE_POINTS)) for i in steps}
    return sorted(even | logarithmic)
