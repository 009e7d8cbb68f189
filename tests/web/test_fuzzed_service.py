"""Requests made up from the service's own document: none may end in a server's error."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.serve.served import BUDGET, serving

from littlestone.serve.tokens import Role

pytestmark = pytest.mark.web
REQUESTS = int(os.environ.get("REQUESTS", "1000"))
LINE = {"board": "line", "epsilon": 1}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
BODIES = 8  # routes that take one: most made-up requests go to them


def test_no_request_makes_the_server_fail(tmp_path: Path) -> None:
    command = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("schemathesis is not installed: pip install 'littlestone[web]'")
    with serving(tmp_path / "runs") as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        client.create("line", concepts="thresholds:64", setting="realizable", **BUDGET)
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
        }
        words = [word for option in options.items() for word in option]
        done = subprocess.run(
            [command, "run", address, "--no-color", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=1500,
        )
        assert done.returncode == 0, done.stdout[-4000:]
        found = re.search(r"(\d[\d,]*) generated, (\d[\d,]*) passed", done.stdout)
        assert found is not None and int(found[2].replace(",", "")) >= REQUESTS // 2
        print(found[0])
        # What was thrown at it has left it usable.
        assert client.send("line", 3, 1)["round"] >= 1
