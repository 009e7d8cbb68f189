"""Fixtures that every test may ask for."""

import gc
import linecache
import os
import secrets
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from littlestone.randomness import Randomness, seeded

# What test_spark.py starts; no tests, and without pyspark it cannot even be imported.
collect_ignore = ["spark_driver.py"]

settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.register_profile("usual", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Few of the things that tests throw away are in cycles: they are looked for seldom.
gc.set_threshold(50_000, 20, 20)
gc.disable()  # until all tests are known


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """What was imported and collected stays: no collection need look at it, then or later."""
    gc.freeze()
    gc.enable()
    linecache.clearcache()  # doctest would ask the disk about all files, before each of its tests


def seed_of(item: pytest.Item) -> int | None:
    """None where a test has fresh noise: it is statistical, or FRESH=1 is in the environment.

    Any other test states no probability of failing on correct code, so it draws the same each time.
    """
    if given := os.environ.get("LITTLESTONE_SEED"):
        return int(given)
    if os.environ.get("FRESH") or item.get_closest_marker("statistical"):
        return None
    return zlib.crc32(item.nodeid.encode())


def replayed(seed: int) -> Callable[[int], bytes]:
    """Bytes in place of the operating system's; a process that this one starts has others."""
    owner, generator, fresh = os.getpid(), np.random.default_rng(seed), os.urandom
    return lambda count: generator.bytes(count) if os.getpid() == owner else fresh(count)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Around a test and its fixtures: everything secret that this process draws is replayed."""
    seed = seed_of(item)
    if seed is None:
        return (yield)
    with pytest.MonkeyPatch.context() as patched:
        source = replayed(seed)
        patched.setattr(os, "urandom", source)
        patched.setattr(secrets, "token_bytes", lambda count=32: source(count))
        return (yield)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Randomness:
    """Randomness whose seed is printed; LITTLESTONE_SEED replays a statistical test."""
    seed = seed_of(request.node)
    if seed is None:
        seed = int.from_bytes(os.urandom(6), "big")
    print(f"\nreplay with LITTLESTONE_SEED={seed}")
    return seeded(seed)


@pytest.fixture
def folder_in_memory() -> Iterator[Path]:
    """Where syncing takes no time, if there is such a place; else an ordinary folder."""
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)
