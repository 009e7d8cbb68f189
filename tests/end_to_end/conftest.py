"""One server for all fleets, a fresh fleet, and commands as the shell runs them."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.fleets import Fleet
from tests.server import Server, running
from tests.spark_fleets import ENVIRONMENT

from littlestone.cli.main import main


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with TemporaryDirectory(prefix="fleet") as folder:  # not below pytest's: another user's reach
        os.chmod(folder, 0o755)
        with running(Path(folder)) as server:
            yield server


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Fleet:
    return Fleet(server, tmp_path)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ |= ENVIRONMENT
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The status, what was printed, and what was said, on one line."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["littlestone", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        assert isinstance(end.value.code, int)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return end.value.code, said.out, " ".join(said.err.split())

    return run
