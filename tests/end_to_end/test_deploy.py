"""The image's command, the compose file, Prometheus, the dashboard and the unit, as far as a
machine without a container runtime can try them."""

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml
from tests.patience import PATIENCE
from tests.ports import reserved_port
from typer.testing import CliRunner

from littlestone.cli.main import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last(word: str) -> str:
    return [rest for name, rest in instructions() if name == word][-1]


@contextmanager
def started(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The image's command on this machine: its port and its folder of tokens."""
    words = json.loads(last("CMD"))
    for place in ("/data", "/tokens"):
        words = [re.sub(rf"^{place}(?=/|$)", f"{tmp_path}{place}", word) for word in words]
    (tmp_path / "data").mkdir()
    words[words.index("--host") + 1] = "127.0.0.1"
    command = [sys.executable, "-m", "littlestone", *words, "--port"]
    piped: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with (
        reserved_port() as port,
        subprocess.Popen([*command, str(port)], **piped) as process,
    ):
        assert process.stdout is not None and f":{port}" in process.stdout.readline()
        try:
            yield port, tmp_path / "tokens"
        finally:
            process.send_signal(getattr(signal, last("STOPSIGNAL")))
            _, log = process.communicate(timeout=PATIENCE)
        assert process.returncode in (
            0,
            -signal.SIGTERM,
        )  # uvicorn raises it again when all is closed
        assert {json.loads(line)["level"] for line in log.splitlines()} == {"info"}


def test_the_image_serves_is_healthy_and_is_measured(tmp_path: Path) -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    with started(tmp_path) as (port, tokens):
        check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
        check = [sys.executable, *(word.replace("8000", str(port)) for word in check[1:])]
        subprocess.run(check, check=True, timeout=PATIENCE)
        measured = ""
        for job in jobs:
            name = Path(job["authorization"]["credentials_file"]).name
            path = job.get("metrics_path", "/metrics")
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}",
                headers={"Authorization": f"Bearer {(tokens / name).read_text()}"},
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                measured += answer.read().decode()
        assert all((tokens / name).stat().st_mode & 0o077 == 0 for name in ("owner", "writer"))
    dashboard = json.loads((DEPLOY / "grafana" / "littlestone.json").read_text())
    known = set(re.findall(r"# TYPE (\w+)", measured))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            for metric in re.findall(r"littlestone_\w+", target["expr"]):
                assert metric.removesuffix("_bucket") in known, metric


def test_the_image_has_what_it_copies_and_does_not_run_as_root() -> None:
    rules = (ROOT / ".dockerignore").read_text().split()
    sent = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists()
                assert any(fnmatch(source.removeprefix("./"), rule) for rule in sent), source
    assert not last("USER").startswith(("0", "root"))
    assert json.loads(last("ENTRYPOINT")) == ["littlestone"]


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found


def test_the_compose_file_fits_its_schema_and_names_files_that_exist() -> None:
    schema = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*schema, str(ROOT / "compose.yaml")], check=True, capture_output=True)
    for service in services().values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert not source.startswith(".") or (ROOT / source).is_file(), source


def known_options() -> set[str]:
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    return set(re.findall(r"--[a-z-]+", shown))


def test_every_command_uses_options_that_serve_has() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]  # names of systemd have capitals
    unit.read_string((DEPLOY / "littlestone.service").read_text(encoding="utf-8"))
    commands = [
        json.loads(last("CMD")),
        services()["service-postgresql"]["command"],
        shlex.split(unit["Service"]["ExecStart"])[1:],
    ]
    known = known_options()
    for words in commands:
        assert words[0] == "serve"
        assert {word for word in words if word.startswith("--")} <= known
    assert unit["Service"]["DynamicUser"] == "yes" and "HUP" in unit["Service"]["ExecReload"]
