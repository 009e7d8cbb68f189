"""A test that states no probability draws the same each time, and a statistical one does not."""

import os
import secrets
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import replayed, seed_of


def test_what_a_test_draws_is_replayed(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_of(request.node)
    if seed is None:
        pytest.skip("FRESH is in the environment")
    again = replayed(seed)
    assert [os.urandom(8), secrets.token_bytes(9)] == [again(8), again(9)]
    assert secrets.token_hex(4) == again(4).hex()


def test_two_tests_draw_otherwise_and_a_statistical_one_afresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("FRESH", "LITTLESTONE_SEED"):
        monkeypatch.delenv(name, raising=False)

    def item(name: str, *marks: str) -> Any:
        return SimpleNamespace(nodeid=name, get_closest_marker=lambda mark: mark in marks or None)

    assert seed_of(item("a")) == seed_of(item("a", "slow")) != seed_of(item("b")) is not None
    assert seed_of(item("a", "statistical")) is None
    monkeypatch.setenv("LITTLESTONE_SEED", "7")
    assert seed_of(item("a", "statistical")) == 7


def test_a_process_of_its_own_has_noise_of_its_own() -> None:
    source = replayed(1)
    listening, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(telling, source(32))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(listening, 32) != source(32) == replayed(1)(32)
    for end in (listening, telling):
        os.close(end)
