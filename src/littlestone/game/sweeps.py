"""Play many independent games in this process, in others, or on a cluster.

Each game gets its own stream of randomness, split off before anything runs, so a seeded sweep is
bit for bit the same on one core and on a cluster. Without a seed, each game uses the operating
system's randomness. Results are in the order of the tasks.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from typing import Any, Final, TypeVar

import numpy as np

from littlestone import require
from littlestone.game.play import play
from littlestone.game.protocols import Adversary
from littlestone.game.transcript import Transcript, axes_or_new
from littlestone.randomness import Randomness

ENGINES: Final = ("loky", "dask", "ray")
_GROUPS: Final = 50

Argument = TypeVar("Argument")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The number of parallel tasks, and where they run.

    ``loky`` starts processes on this machine. ``dask`` and ``ray`` use the existing cluster at
    ``cluster`` (all of it), or start a small one here; the cluster's workers need littlestone too.

    >>> Workers().each(abs, [3, -4])
    [3, 4]
    """

    jobs: int = 1
    engine: str = "loky"
    cluster: str | None = None

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(jobs=self.jobs, at_least=1)
        if self.engine not in ENGINES:
            raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {self.engine!r}")
        if self.cluster is not None and self.engine == "loky":
            raise ValueError(f"cluster belongs to engine dask or ray, got cluster={self.cluster!r}")

    @property
    def in_this_process(self) -> bool:
        """Whether tasks run sequentially in this process."""
        return self.engine == "loky" and self.jobs == 1

    def each(
        self,
        task: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return ``task`` of every argument, in order; ``progress`` gets the number done."""
        results: list[Result] = []
        arguments = require.listed(arguments=arguments)
        with ExitStack() as resources:
            for result in self._results(task, arguments, resources):
                results.append(result)
                if progress is not None:
                    progress(len(results))
        return results

    def _results(
        self,
        task: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        resources: ExitStack,
    ) -> Iterator[Result]:
        if self.in_this_process:
            return map(task, arguments)
        joblib = _optional("joblib", "several jobs need")
        if self.engine == "dask":
            self._join_dask(resources)
        if self.engine == "ray":
            self._join_ray(resources)
        # An existing cluster has its own number of workers.
        jobs = self.jobs if self.cluster is None else -1
        resources.enter_context(joblib.parallel_config(backend=self.engine, n_jobs=jobs))
        calls = [joblib.delayed(task)(argument) for argument in arguments]
        if self.engine == "ray":  # returns a list only at the end, so it is polled
            return _in_groups(resources.enter_context(joblib.Parallel()), calls)
        results = joblib.Parallel(return_as="generator")(calls)
        resources.enter_context(closing(results))
        taken: Iterator[Result] = results
        return taken

    def _join_dask(self, resources: ExitStack) -> None:
        distributed = _optional("distributed", "engine dask needs")
        address: Any = self.cluster
        if address is None:
            address = resources.enter_context(
                distributed.LocalCluster(
                    n_workers=self.jobs, threads_per_worker=1, dashboard_address=None
                )
            )
        resources.enter_context(distributed.Client(address))

    def _join_ray(self, resources: ExitStack) -> None:
        ray = _optional("ray", "engine ray needs")
        if self.cluster is None:
            ray.init(num_cpus=self.jobs, include_dashboard=False, log_to_driver=False)
        else:
            ray.init(address=self.cluster, log_to_driver=False)
        resources.callback(ray.shutdown)
        import_module("ray.util.joblib").register_ray()


def _in_groups(parallel: Any, calls: Sequence[Any]) -> Iterator[Any]:
    size = -(-len(calls) // _GROUPS)
    for start in range(0, len(calls), size):
        yield from parallel(calls[start : start + size])


def _optional(name: str, why: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = "ray" if name == "ray" else "'littlestone[sweeps]'"
        raise ValueError(f"{why} {name}: pip install {package}") from None


QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_HERE: Final = Workers()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A game that failed; reports always include it."""

    game: int
    error: str

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"game": self.game, "error": self.error}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One quantity over all games that ended. Quantiles are values that occurred."""

    values: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return sum(self.values) / len(self.values)

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None for a single game."""
        if len(self.values) < 2:
            return None
        return float(np.std(self.values, ddof=1)) / math.sqrt(len(self.values))

    @property
    def quantiles(self) -> dict[float, int]:
        """The quantiles of the values."""
        found = np.quantile(np.array(self.values), QUANTILES, method="inverted_cdf")
        return dict(zip(QUANTILES, found.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
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
        """The games that ended."""
        return tuple(game for game in self.games if isinstance(game, Transcript))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The games that failed."""
        return tuple(game for game in self.games if isinstance(game, Failure))

    @require.checked
    def summary(self, quantity: str) -> Summary | None:
        """Summarise ``mistakes``, ``regret`` or ``switches``; None if unknown for some game."""
        if not isinstance(quantity, str) or quantity not in ("mistakes", "regret", "switches"):
            raise ValueError(
                f"quantity must be mistakes, regret or switches, got {require.shown(quantity)}"
            )
        values = tuple(getattr(game, quantity) for game in self.ended)
        return None if not values or None in values else Summary(values=values)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
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

    Raises for bad arguments as ``play`` does. A game that fails for any other reason is reported in
    ``failures``, and the other games continue.

    >>> from littlestone.game.adversaries.random_stream import RandomStream
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.online.halving import Halving
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
    # Everything that a worker needs, including the game's randomness.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The results of every learner against every adversary; prints as a table."""

    learners: tuple[str, ...]
    adversaries: tuple[str, ...]
    games: Mapping[tuple[str, str], Sweep]

    @require.checked
    def mistakes(self, learner: str, adversary: str) -> float | None:
        """Return the mean mistakes of the games that ended; None if none did."""
        if learner not in self.learners or adversary not in self.adversaries:
            raise ValueError(
                f"learner must be one of {', '.join(self.learners)} and adversary one of "
                f"{', '.join(self.adversaries)}, got {require.shown((learner, adversary))}"
            )
        found = self.games[learner, adversary].summary("mistakes")
        return None if found is None else found.mean

    def __repr__(self) -> str:
        width = max(map(len, self.learners))
        lines = [" " * width + "".join(f"  {foe:>18.18}" for foe in self.adversaries)]
        for learner in self.learners:
            cells = (self._cell(learner, foe) for foe in self.adversaries)
            lines.append(f"{learner:<{width}}" + "".join(f"  {cell:>18.18}" for cell in cells))
        return "\n".join(lines)

    def _cell(self, learner: str, adversary: str) -> str:
        found = self.games[learner, adversary].summary("mistakes")
        if found is None:
            return "failed"
        error = "" if found.standard_error is None else f" ± {found.standard_error:,.2g}"
        return f"{found.mean:,.4g}{error}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def plot(self, axes: Any = None) -> Any:
        """Draw one game of each pair: the mistakes so far against the round."""
        axes = axes_or_new(axes)
        for (learner, adversary), sweep in self.games.items():
            for game in sweep.ended[:1]:
                game.plot(axes, label=f"{learner}, {adversary}")
        axes.legend(fontsize="small")
        return axes


@require.checked
def compare(
    learners: Mapping[str, Any] | Sequence[Any],
    adversaries: Mapping[str, Adversary] | Sequence[Adversary],
    *,
    rounds: int,
    rng: Randomness,
    times: int = 1,
    workers: Workers = _HERE,
) -> Comparison:
    """Play every learner against every adversary.

    Args:
        learners: recipes, by a name of your choice or by their class name.
        adversaries: recipes, named likewise.
        rounds: rounds of each game.
        rng: the source of randomness of all games.
        times: number of games per pair.
        workers: where the games run.

    >>> import littlestone as ls
    >>> concepts = ls.Thresholds(15)
    >>> learners, adversaries = [ls.StandardOptimal(concepts)], [ls.MistakeForcing(concepts)]
    >>> found = ls.game.compare(learners, adversaries, rounds=50, rng=ls.seeded(1))
    >>> print(found)
                         MistakeForcing
    StandardOptimal                   4
    """
    sides, foes = _by_name(learners), _by_name(adversaries)
    pairs = [(mine, theirs) for mine in sides for theirs in foes]
    games = {
        (mine, theirs): repeat(
            sides[mine], foes[theirs], times=times, workers=workers, rounds=rounds, rng=part,
            even_if_oblivious_only=True,
        )
        for (mine, theirs), part in zip(pairs, rng.spawn(len(pairs)), strict=True)
    }  # fmt: skip
    return Comparison(learners=tuple(sides), adversaries=tuple(foes), games=games)


def _by_name(parties: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(parties, Mapping):
        return dict(parties)
    names = [type(party).__name__ for party in parties]
    numbered = [
        name if names.count(name) == 1 else f"{name} {names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]
    return dict(zip(numbered, parties, strict=True))
