"""Fixtures that every test may ask for."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from littlestone.randomness import Randomness, seeded

# What test_spark.py starts; no tests, and without pyspark it cannot even be imported.
collect_ignore = ["spark_driver.py"]

settings.register_profile("quick", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("usual", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Few of the things that tests throw away are in cycles: they are looked for seldom.
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no collection need look at it again."""
    gc.freeze()


@pytest.fixture
def rng() -> Randomness:
    """Fresh randomness each time; LITTLESTONE_SEED replays a failure, whose seed is printed."""
    given = os.environ.get("LITTLESTONE_SEED")
    seed = int(given) if given else int.from_bytes(os.urandom(6), "big")
    print(f"\nreplay with LITTLESTONE_SEED={seed}")
    return seeded(seed)


@pytest.fixture
def folder_in_memory() -> Iterator[Path]:
    """Where syncing takes no time, if there is such a place; else an ordinary folder."""
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)
