"""Requests are counted for operators, logged as JSON, and neither holds data."""

import io
import json
import logging
import re
from pathlib import Path

import pytest
from tests.unit.http.served import BUDGET, serving

from littlestone.http.server import JsonLines
from littlestone.http.service import BUCKETS, REQUESTS, Role, Telemetry

SECRET = "somebody@example.org"


def test_operators_count_requests_and_readers_do_not(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        client = served.client()
        client.create("abuse", concepts="keys", **BUDGET)
        client.send("abuse", SECRET, 1)
        served.raw("POST", "/runs/abuse/events", b'{"x": 1}')
        served.raw("GET", f"/runs/{SECRET}/keys")
        status, _, body = served.raw("GET", "/metrics/requests", role=Role.OPERATOR)
        text = body.decode()
        assert status == 200 and SECRET not in text
        route = 'method="POST",route="/runs/{run}/events"'
        assert f'littlestone_requests_total{{{route},status="200"}} 1' in text
        assert f'littlestone_requests_total{{{route},status="422"}} 1' in text
        assert f"littlestone_request_seconds_count{{{route}}} 2" in text
        assert served.raw("GET", "/metrics/requests", role=Role.READER)[0] == 403
        assert b"requests" not in served.raw("GET", "/metrics", role=Role.READER)[2]
        for path in ("/runs", "/runs/abuse/keys", "/runs/abuse/ledger", "/metrics"):
            assert served.raw("GET", path, role=Role.OPERATOR)[0] == 403


def test_buckets_add_up() -> None:
    telemetry = Telemetry()
    for seconds in (0.0, *BUCKETS, 11.0):
        telemetry.observe("GET", "/runs", 200, seconds, "")
    counts = [int(line.split()[-1]) for line in telemetry.lines() if "_bucket" in line]
    assert counts == [*range(2, len(BUCKETS) + 2), len(BUCKETS) + 2]


def test_a_line_of_the_log_is_json_without_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    monkeypatch.setattr(REQUESTS, "handlers", [handler])
    monkeypatch.setattr(REQUESTS, "level", logging.INFO)
    REQUESTS.manager._clear_cache()  # type: ignore[attr-defined]  # levels are cached
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.client().send("abuse", SECRET, 1)
        served.raw("GET", f"/runs/{SECRET}/keys")
        tokens = list(served.tokens.values())
    REQUESTS.manager._clear_cache()  # type: ignore[attr-defined]
    text = written.getvalue()
    assert not any(secret in text for secret in (SECRET, *tokens))
    lines = [json.loads(line) for line in text.splitlines()]
    sent = next(line for line in lines if line["route"] == "/runs/{run}/events")
    assert (sent["run"], sent["status"], sent["method"]) == ("abuse", 200, "POST")
    assert sent["milliseconds"] > 0 and re.fullmatch(r"[\d-]+T[\d:.]+Z", sent["time"])
    assert [line["run"] for line in lines if line["status"] == 404] == [""]


def test_the_api_is_described_for_people(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        status, headers, body = served.raw("GET", "/docs", role=None)
        page = body.decode()
        assert status == 200 and "POST /runs/{run}/events" in page
        for name in re.findall(r'href="#(\w+)"', page):
            assert f'id="{name}"' in page
        assert "http" not in re.sub(r"https?://json-schema[^\"]*", "", page).replace("HTTP", "")
        assert headers["content-security-policy"].startswith("default-src 'none'")
