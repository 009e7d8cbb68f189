"""One server for all fleets, and a fresh fleet."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.fleets import Fleet
from tests.server import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with TemporaryDirectory(prefix="fleet") as folder:  # not below pytest's: another user's reach
        os.chmod(folder, 0o755)
        with running(Path(folder)) as server:
            yield server


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Fleet:
    return Fleet(server, tmp_path)
