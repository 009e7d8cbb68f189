"""The command: what it binds, says and reads again, and that it never speaks to a stranger."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.unit.http.served import serving
from typer.testing import CliRunner

from littlestone.cli import serve as command
from littlestone.cli.main import app
from littlestone.http import server as http_server
from littlestone.http.client import Client, ServiceError
from littlestone.http.server import Server, bound
from littlestone.http.service import Role, Tokens, digest, save_each

KEYS = {"concepts": "keys", "rounds": 1000, "epsilon": 1.0, "delta": 1e-6}


@contextmanager
def foreign() -> Iterator[tuple[int, list[bytes]]]:
    """A server of somebody else: its port, and what it was sent."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken.settimeout(1.0)

        def listen() -> None:
            try:
                while True:
                    line, _ = taken.accept()
                    with line:
                        line.settimeout(1.0)
                        heard.append(line.recv(1 << 16))
            except OSError:
                pass

        listener = threading.Thread(target=listen)
        listener.start()
        yield taken.getsockname()[1], heard
        listener.join(PATIENCE)


def test_a_port_in_use_is_said_before_anything_else(tmp_path: Path) -> None:
    with foreign() as (port, heard):
        words = ["--store", str(tmp_path / "runs"), "--port", str(port), "--demo"]
        done = CliRunner().invoke(app, ["serve", *words, "--token-file", str(tmp_path / "tokens")])
        time.sleep(0.3)  # for a demonstration that would have begun
    assert isinstance(done.exception, ValueError) and "port must be free" in str(done.exception)
    assert f"port={port}" in str(done.exception)
    assert done.output == "" and heard == [] and not (tmp_path / "tokens").exists()


def test_a_folder_in_use_shows_no_token(tmp_path: Path) -> None:
    with serving(tmp_path):
        done = CliRunner().invoke(app, ["serve", "--store", str(tmp_path), "--port", "0"])
    assert "another one is using" in str(done.exception) and done.output == ""


def test_the_arena_says_that_its_port_is_in_use() -> None:
    with foreign() as (port, _):
        done = CliRunner().invoke(app, ["arena", "--port", str(port)])
    assert "port must be free" in str(done.exception) and done.output == ""


def test_any_port_is_told_and_a_hangup_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, stopped = list[str](), list[int]()

    def run(service: Server) -> None:
        signal.raise_signal(signal.SIGHUP)
        for one in service.sockets:
            one.close()

    monkeypatch.setattr(command, "start_demo", lambda url, token: sent.append(url))
    monkeypatch.setattr(Server, "run", run)
    before = signal.signal(signal.SIGHUP, lambda number, _: stopped.append(number))
    try:
        words = ["--store", str(tmp_path / "runs"), "--port", "0", "--demo"]
        done = CliRunner().invoke(app, ["serve", *words])
    finally:
        signal.signal(signal.SIGHUP, before)
    [url] = re.findall(r"http://127\.0\.0\.1:[1-9][0-9]*", done.output)
    assert sent == [url] and stopped == []


def test_every_address_of_a_name_is_taken() -> None:
    """Else a token that is sent to the name could reach somebody else."""
    sockets = bound("localhost", 0)
    ports = {one.getsockname()[1] for one in sockets}
    families = {one.family for one in sockets}
    for one in sockets:
        one.close()
    expected = {family for family, *_ in socket.getaddrinfo("localhost", 0)}
    assert len(ports) == 1 and families <= expected and socket.AF_INET in families


class Started:
    """A service of its own process: its address and its clients."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self._open = process, ExitStack()
        assert process.stdout is not None and process.stderr is not None
        self.url = process.stdout.readline().split()[0]
        self.errors = process.stderr

    def client(self, token: str, **more: Any) -> Client:
        return self._open.enter_context(Client(self.url, token, **more))

    def following(self, token: str, run: str) -> Generator[Any]:
        return self._open.enter_context(closing(self.client(token).follow(run)))

    def hang_up(self) -> None:
        os.kill(self.process.pid, signal.SIGHUP)

    def close(self) -> None:
        self._open.close()


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Started]:
    command = [sys.executable, "-u", "-m", "littlestone.cli.main", "serve"]
    with subprocess.Popen(
        [*command, "--store", str(folder / "runs"), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with closing(Started(process)) as service:
                service.client("", patience=PATIENCE)._json("GET", "/health")
                yield service
        finally:
            process.terminate()
            process.wait(PATIENCE)


def test_an_id_outlives_the_token_of_one_start(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        first.client().create("abuse", **KEYS)
        assert first.client(Role.WRITER).send("abuse", "a", 1, id="one")["round"] == 1
    with serving(tmp_path) as second:
        assert second.tokens[Role.WRITER] != first.tokens[Role.WRITER]
        again = second.client(Role.WRITER).send("abuse", "a", 1, id="one")
        assert (again["round"], again.get("repeated")) == (1, True)
        assert second.client(Role.OWNER).send("abuse", "a", 1, id="one")["round"] == 2


def line_of(role: str, holder: str, token: str) -> str:
    return f"{role} * {holder} {digest(token).hex()}\n"


def test_tokens_are_rotated_and_revoked_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.touch(mode=0o600)
    always = line_of("owner", "me", "owner-token") + line_of("writer", "other", "other-token")
    reader = line_of("reader", "somebody", "reader-token")
    file.write_text(always + reader + line_of("writer", "app", "old-token"))
    with started(tmp_path, "--token-file", str(file)) as service:
        owner, old = service.client("owner-token"), service.client("old-token")
        owner.create("abuse", **KEYS)
        assert old.send("abuse", "a", 1, id="one")["round"] == 1
        following = service.following("reader-token", "abuse")
        assert next(following)["release"] == 1
        file.write_text(always + line_of("writer", "app", "new-token"))
        service.hang_up()
        until = time.monotonic() + PATIENCE
        while True:
            try:
                old.send("abuse", "b", 1, id="late")
            except ServiceError as refused:
                assert refused.status == 401
                break
            assert time.monotonic() < until
        new = service.client("new-token")
        again = new.send("abuse", "a", 1, id="one")
        assert (again["round"], again["repeated"]) == (1, True)
        other = service.client("other-token").send("abuse", "a", 1, id="one")
        assert other["round"] > 1 and not other.get("repeated")
        owner.send_many("abuse", [("k", 1)] * 400)  # 60 are too few in one case of 1,000
        with pytest.raises(ServiceError, match="401"):  # a stream ends before the next release
            next(following)
        file.write_text("nonsense")
        service.hang_up()
        assert "the tokens are unchanged: line 1 of" in service.errors.readline()
        assert new.send("abuse", "c", 1)["round"] > 1


def test_tokens_in_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Whoever made the files before, and whatever they were."""
    folder, elsewhere = tmp_path / "made", tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "owner").touch()
    (folder / "owner").chmod(0o644)
    (folder / "writer").symlink_to(elsewhere)
    made = Tokens.fresh()[1]
    save_each(made, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == made
    assert {path.lstat().st_mode for path in folder.iterdir()} == {0o100600}
    assert not elsewhere.exists()


def test_tokens_that_cannot_be_written_are_not_valid_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start would take the hashes of tokens that nobody has."""
    (tmp_path / "full").touch()
    words = ["--store", str(tmp_path / "runs"), "--token-file", str(tmp_path / "tokens")]
    words += ["--port", "0", "--tokens-to", str(tmp_path / "full")]
    with ExitStack() as sockets:

        def listening(*arguments: Any) -> list[socket.socket]:
            return list(map(sockets.enter_context, bound(*arguments)))

        monkeypatch.setattr(http_server, "bound", listening)
        done = CliRunner().invoke(app, ["serve", *words])
    assert "File exists" in str(done.exception) and not (tmp_path / "tokens").exists()


def test_a_token_has_one_holder(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.touch(mode=0o600)
    file.write_text(line_of("writer", "app", "token") + line_of("reader", "other", "token"))
    with pytest.raises(ValueError, match="one holder, got 'app' and 'other'"):
        Tokens.from_file(file)
    for holder in ("a/b", "a b", "", "x" * 65):
        file.write_text(line_of("writer", holder, "token"))
        with pytest.raises(ValueError, match="role run holder sha256"):
            Tokens.from_file(file)
    fresh, made = Tokens.fresh()
    file.unlink()
    fresh.save(file)
    assert Tokens.from_file(file) == fresh
    assert [fresh.holder(made[role]) for role in Role] == ["owner", "writer", "reader", "operator"]
    assert fresh.holder(None) is None and fresh.holder("") is None
    assert json.dumps(made) not in file.read_text()
