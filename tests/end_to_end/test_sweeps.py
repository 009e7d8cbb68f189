"""Sweeps: the same results wherever they run, nothing dropped, and fresh noise for each task."""

import json
import pickle
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.battery import built
from typer.testing import CliRunner

from littlestone.choose.catalogue import ADVERSARIES, class_from_spec
from littlestone.cli import play as play_command
from littlestone.cli.main import app
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import NotRealizableError
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.protocols import Attack
from littlestone.game.sweeps import Failure, Summary, Sweep, Workers, repeat
from littlestone.game.transcript import Transcript
from littlestone.lab.claim import Outcome
from littlestone.lab.every_claim import CLAIMS, examine_all
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import Randomness, secure, seeded

CONCEPTS = Thresholds(64)
LEARNER = PrivateMajority(concepts=CONCEPTS, rounds=2000, epsilon=1.0)
ADVERSARY = MistakeForcing(concepts=CONCEPTS)
TWO_PROCESSES = Workers(jobs=2)


def sweep(workers: Workers, rng: Randomness, times: int = 24) -> Sweep:
    return repeat(LEARNER, ADVERSARY, times=times, rounds=2000, rng=rng, workers=workers)


def timeless(found: Sweep) -> list[Transcript | Failure]:
    """Everything but what the clock says."""
    return [
        game if isinstance(game, Failure) else replace(game, seconds=0.0) for game in found.games
    ]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_processes_give_the_results_of_the_serial_sweep() -> None:
    serial = sweep(Workers(), seeded(11))
    assert timeless(sweep(TWO_PROCESSES, seeded(11))) == timeless(serial)
    assert len({game.mistakes for game in serial.ended}) > 1  # each has randomness of its own
    assert timeless(sweep(Workers(), seeded(12))) != timeless(serial)


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_dask_cluster_gives_the_results_of_the_serial_sweep(processes: bool) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra 'sweeps' is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        processes=processes,
        protocol="tcp://",  # tasks and results are pickled, wherever the workers live
    ) as cluster:
        workers = Workers(engine="dask", cluster=cluster.scheduler_address)
        found = sweep(workers, seeded(11))
    assert timeless(found) == timeless(sweep(Workers(), seeded(11)))


if find_spec("ray"):  # no extra brings it

    def test_a_ray_cluster_gives_the_results_of_the_serial_sweep() -> None:
        found = sweep(Workers(engine="ray", jobs=2), seeded(11))
        assert timeless(found) == timeless(sweep(Workers(), seeded(11)))


def test_a_shorter_sweep_is_the_beginning_of_a_longer_one() -> None:
    longer = timeless(sweep(Workers(), seeded(11), times=8))
    assert timeless(sweep(Workers(), seeded(11), times=5)) == longer[:5]


def test_without_a_seed_every_task_draws_from_the_operating_system() -> None:
    # What travels to a worker holds no random bits.
    assert [stream.state() for stream in secure().spawn(2)] == 2 * [{"source": "secure"}]
    first, second = (sweep(TWO_PROCESSES, secure()) for _ in range(2))
    assert all(game.private for game in first.ended + second.ended)
    # Two games have the same curve with probability about 3e-4; were it 0.4, two sweeps of 24
    # games would still be the same with probability below 1e-9 only.
    assert timeless(first) != timeless(second)


@dataclass(frozen=True)
class SometimesContradictory:
    """Promises a consistent concept, and in some games breaks the promise."""

    concepts: Thresholds = CONCEPTS
    adaptive: bool = False
    realizable: bool = True

    def start(self, *, rng: Randomness) -> Attack:
        return _Liar() if rng.coin() else _Honest()


class _Honest:
    def choose(self, seen: object, /) -> tuple[int, int]:
        return 0, 0


class _Liar:
    def __init__(self) -> None:
        self._said = 0

    def choose(self, seen: object, /) -> tuple[int, int]:
        self._said += 1
        return 0, self._said % 2


def test_games_that_fail_are_reported_and_the_others_go_on() -> None:
    found = repeat(LEARNER, SometimesContradictory(), times=12, rounds=5, rng=seeded(1))
    assert found.failures and found.ended
    assert len(found.failures) + len(found.ended) == len(found.games) == 12
    for number, game in enumerate(found.games):
        if isinstance(game, Failure):
            assert game.game == number and NotRealizableError.__name__ in game.error
    record = found.to_json()
    assert record["ended"] == len(record["mistakes"]["values"]) == 12 - len(record["failures"])


def test_a_failure_decides_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> Sweep:
        return Sweep(games=(Failure(game=0, error="NotRealizableError: no"),), seconds=0.0)

    monkeypatch.setattr(play_command, "repeat", failing)
    result = run("play", "--repeat", "2", "--json")
    assert result.exit_code == 1
    record = json.loads(result.output)
    assert record["failures"] == [{"game": 0, "error": "NotRealizableError: no"}]
    assert record["mistakes"] is None
    assert "NotRealizableError: no" in run("play", "--repeat", "2").output


def test_bad_arguments_are_refused_for_all_games() -> None:
    with pytest.raises(ValueError, match="rounds must be at most"):
        repeat(LEARNER, ADVERSARY, times=3, rounds=2001, rng=seeded(1))
    with pytest.raises(ValueError, match="times must be at least 1"):
        repeat(LEARNER, ADVERSARY, times=0, rounds=20, rng=seeded(1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"engine": "spark"}, "engine must be one of loky, dask, ray"),
        ({"cluster": "tcp://host:1"}, "cluster belongs to engine dask or ray"),
    ],
)
def test_bad_workers_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Workers(**arguments)


def test_a_summary_is_what_it_says() -> None:
    found = Summary(values=(1, 2, 3, 10))
    assert found.mean == 4
    assert found.standard_error == pytest.approx((50 / 3 / 4) ** 0.5)
    assert found.quantiles[0.0] == 1 and found.quantiles[0.5] == 2 and found.quantiles[1.0] == 10
    assert Summary(values=(7,)).standard_error is None


def test_progress_is_told_after_every_task() -> None:
    seen: list[int] = []
    TWO_PROCESSES.each(abs, range(5), progress=seen.append)
    assert seen == [1, 2, 3, 4, 5]


def test_every_recipe_of_the_catalogue_can_be_sent_to_a_worker() -> None:
    concepts = class_from_spec("thresholds:2")
    budget = {"rounds": 100, "epsilon": 1.0, "delta": 1e-6}
    recipes = [*built(concepts, private=False, **budget).values()]
    recipes += [entry.build(concepts) for entry in ADVERSARIES.values()]
    assert pickle.loads(pickle.dumps(recipes)) == recipes


def test_repeated_play_as_json_does_not_depend_on_the_jobs(tmp_path: Path) -> None:
    asked = ("play", "--learner", "private-majority", "--rounds", "500", "--repeat", "6")
    picture = tmp_path / "games.svg"
    serial = json.loads(run(*asked, "--seed", "5", "--json", "--plot", str(picture)).output)
    parallel = json.loads(run(*asked, "--seed", "5", "--json", "--jobs", "2").output)
    for record in (serial, parallel):
        del record["seconds"], record["jobs"]
    assert serial == parallel
    assert serial["games"] == serial["ended"] == len(serial["mistakes"]["values"]) == 6
    assert {"mean", "standard_error", "quantiles"} <= set(serial["regret"])
    assert not serial["private"]
    assert "median of 6 games" in picture.read_text(encoding="utf-8")
    assert json.loads(run(*asked, "--json").output)["private"]
    table = run(*asked).output
    assert "6 of 6" in table and "NOT PRIVATE" not in table


def test_claims_examined_at_once_find_what_they_find_one_by_one() -> None:
    chosen = [CLAIMS[name] for name in ("coupon-collector", "littlestone-mistakes")]
    one_by_one = examine_all(chosen, seed=3)
    at_once = examine_all(chosen, seed=3, workers=TWO_PROCESSES)
    assert [_found(outcome) for outcome in at_once] == [_found(o) for o in one_by_one]
    assert [outcome.seed for outcome in at_once] == [3, 4]


def _found(outcome: Outcome) -> dict[str, Any]:
    return {**outcome.to_json(), "seconds": None}


def test_claims_take_jobs() -> None:
    asked = ("claims", "coupon-collector", "littlestone-mistakes", "--seed", "3", "--json")
    serial, parallel = (json.loads(run(*asked, "--jobs", jobs).output) for jobs in ("1", "2"))
    for record in serial + parallel:
        del record["seconds"]
    assert serial == parallel
