"""Requests made up from the service's own document, and by hand: none may break the service."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.unit.http.served import BUDGET, serving
from tests.web.fuzzing import Hostile

from littlestone.http.service import Role
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.runs.book import Book

pytestmark = pytest.mark.web
FUZZED = int(os.environ.get("FUZZED", "2000"))
LAST: dict[str, Any] = {"abuse": ("a", 1), "line": (1, 1), "rules": ({"a": 1.5, "b": "x"}, 1)}
REQUESTS = int(os.environ.get("REQUESTS", "1000"))
LINE = {"board": "line", "epsilon": 1}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
BODIES = 8  # routes that take one: most made-up requests go to them


def test_no_request_makes_the_server_fail(tmp_path: Path, rng: Randomness) -> None:
    command = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("schemathesis is not installed: pip install 'littlestone[web]'")
    with serving(tmp_path / "runs") as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        client.create("line", concepts="thresholds:64", setting="realizable", **BUDGET)
        for run, x in (("abuse", "a"), ("line", 1)):
            client.send(run, x, 1)  # so that nobody can remove it
        games = [
            client._json("POST", "/arena/games/fool", {**LINE, "learner": "private-majority"}),
            client._json("POST", "/arena/games/tell", {"learner": "keys", "wanted": "coin"}),
        ]
        (tmp_path / "schemathesis.toml").write_text(
            '[parameters]\n"path.run" = ["abuse", "line"]\n'
            f'"path.id" = {[game["id"] for game in games]}\n'
        )
        address = f"http://127.0.0.1:{served.port}/openapi.json"
        options = {
            "-H": f"Authorization: Bearer {served.tokens[Role.OWNER]}",
            "--max-examples": str(REQUESTS // BODIES),
            "--phases": "fuzzing",
            "--checks": CHECKS,
            "--request-timeout": str(PATIENCE),
            "--seed": str(rng.below(2**32)),
        }
        words = [word for option in options.items() for word in option]
        done = subprocess.run(
            [command, "run", address, "--no-color", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-4000:]
        found = re.search(r"(\d[\d,]*) generated, (\d[\d,]*) passed", done.stdout)
        assert found is not None and int(found[2].replace(",", "")) >= REQUESTS // 2
        print(found[0])
        # What was thrown at it has left it usable.
        assert client.send("line", 3, 1)["round"] >= 1


def test_no_single_request_makes_the_service_fail_or_unwell(
    tmp_path: Path, rng: Randomness
) -> None:
    """Every answer is below 500, and after each the service is well, with all of its runs."""
    hostile, answers, slowest = Hostile(rng), Counter[int](), 0.0
    book = Book.create(
        tmp_path / "book", allowance=PrivacyGuarantee(epsilon=1e308, delta=1.0 - 2**-53)
    )
    with serving(tmp_path / "runs", book=book) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        client.create("line", concepts="thresholds:64", setting="realizable", **BUDGET)
        client.create("rules", schema={"a": {"grid": [1, 2]}, "b": {"values": ["x"]}}, **BUDGET)
        client.create("counted", concepts="keys", **BUDGET, user="user")
        client.send("abuse", "a", 1)
        client.send("line", 1, 1)
        client.send("rules", {"a": 1.5, "b": "x"}, 1)
        client.send("counted", "a", 1, user="ann")
        for _ in range(FUZZED):
            made = hostile.request()
            role = None if made.role is None else Role(made.role)
            kind = {"Content_Type": made.kind} if made.kind else {}
            before = time.monotonic()
            status = served.answer(made.method, made.path, made.body, role, **kind, **made.headers)
            slowest = max(slowest, time.monotonic() - before)
            answers[status] += 1
            assert status < 500, made
            code, _, content = served.raw("GET", "/health", role=None)
            assert (code, json.loads(content)["broken"]) == (200, 0), made
        rounds = {name: client.send(name, *last)["round"] for name, last in LAST.items()}
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(answers.items()))
    print(f"{FUZZED:,} hostile requests, 5xx: 0, unwell: 0 ({told}); slowest {slowest:.1f} s")
    assert min(rounds.values()) > 1 and answers[201] >= FUZZED // 100
    with serving(tmp_path / "runs", book=book) as served:  # and all of it opens again
        assert served.client()._json("GET", "/health")["broken"] == 0
