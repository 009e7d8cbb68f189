"""A sweep is many independent games of two parties; where they are played changes nothing.

Each game is handed the state of its own stream of randomness, split off before anything runs. A
seeded sweep is therefore bit for bit the same on one core and on a cluster; in a sweep without a
seed the state says only "ask the operating system", and each game does so by itself.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from littlestone import require
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.game.transcript import Transcript
from littlestone.game.workers import Workers
from littlestone.randomness import Randomness

QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_HERE: Final = Workers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A game that did not end; it counts as one and is never left out of a report."""

    game: int
    error: str

    def to_json(self) -> dict[str, Any]:
        return {"game": self.game, "error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One quantity over all games that ended. Quantiles are values that really occurred."""

    values: tuple[int, ...]

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def standard_error(self) -> float | None:
        """Of the mean; None for a single game, which says nothing about it."""
        if len(self.values) < 2:
            return None
        return float(np.std(self.values, ddof=1)) / math.sqrt(len(self.values))

    @property
    def quantiles(self) -> dict[float, int]:
        found = np.quantile(np.array(self.values), QUANTILES, method="inverted_cdf")
        return dict(zip(QUANTILES, found.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "standard_error": self.standard_error,
            "quantiles": {f"{share:g}": value for share, value in self.quantiles.items()},
            "values": list(self.values),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The outcome of many games of the same two parties, in the order of their seeds."""

    games: tuple[Transcript | Failure, ...]
    seconds: float

    @property
    def ended(self) -> tuple[Transcript, ...]:
        return tuple(game for game in self.games if isinstance(game, Transcript))

    @property
    def failures(self) -> tuple[Failure, ...]:
        return tuple(game for game in self.games if isinstance(game, Failure))

    def summary(self, quantity: str) -> Summary | None:
        """Of ``mistakes``, ``regret`` or ``switches``; None where some game cannot tell."""
        values = tuple(getattr(game, quantity) for game in self.ended)
        return None if not values or None in values else Summary(values=values)

    def to_json(self) -> dict[str, Any]:
        summaries = {name: self.summary(name) for name in ("mistakes", "regret", "switches")}
        return {
            "games": len(self.games),
            "ended": len(self.ended),
            "failures": [failure.to_json() for failure in self.failures],
            "private": bool(self.ended) and all(game.private for game in self.ended),
            "seconds": self.seconds,
            **{name: found and found.to_json() for name, found in summaries.items()},
        }


def repeat(
    learner: Any,
    adversary: Adversary,
    *,
    times: int,
    rounds: int,
    rng: Randomness,
    peek: bool = False,
    even_if_oblivious_only: bool = False,
    workers: Workers = _HERE,
    progress: Callable[[int], None] | None = None,
) -> Sweep:
    """Play the same game ``times`` times with independent randomness.

    Bad arguments are refused as by ``play``. A game that fails for any other reason is reported
    in ``failures``, and the others go on.

    >>> from littlestone.adversaries.random_stream import RandomStream
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.online.halving import Halving
    >>> from littlestone.randomness import seeded
    >>> learner, adversary = Halving(Thresholds(64)), RandomStream(concepts=Thresholds(64))
    >>> sweep = repeat(learner, adversary, times=20, rounds=100, rng=seeded(7))
    >>> sweep.summary("mistakes").quantiles[0.5], len(sweep.failures)
    (2, 0)
    """
    require.integer(times=times, at_least=1)
    game = partial(
        play,
        learner,
        adversary,
        rounds=rounds,
        peek=peek,
        even_if_oblivious_only=even_if_oblivious_only,
    )
    # All that a worker needs, the game's own randomness included.
    tasks = [(number, game, stream.state()) for number, stream in enumerate(rng.spawn(times))]
    began = time.perf_counter()
    games = workers.each(_played, tasks, progress=progress)
    return Sweep(games=tuple(games), seconds=time.perf_counter() - began)


def _played(task: tuple[int, Callable[..., Transcript], dict[str, Any]]) -> Transcript | Failure:
    number, game, randomness = task
    try:
        return game(rng=Randomness.from_state(randomness))
    except ValueError:
        raise  # bad arguments are the same for all games
    except Exception as error:
        return Failure(game=number, error=f"{type(error).__name__}: {error}")
