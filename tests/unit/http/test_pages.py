"""The pages: for whom, what they show, and that what was sent cannot become markup."""

import html
import http.client
import re
import shlex
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tests.patience import PATIENCE
from tests.unit.http.served import BUDGET, Served, serving

from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.pictures import picture
from littlestone.http.pages import ASSETS
from littlestone.http.service import Role, Tokens
from littlestone.runs.published import examine

HOSTILE = "<script>alert(1)</script>&\"'"


def logged_in(served: Served, token: str, **more: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/x-www-form-urlencoded", **more}
    connection.request("POST", "/login", urlencode({"token": token}), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.getheader("set-cookie") or ""


def test_a_cookie_opens_the_pages_to_its_role(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        assert b'name="token"' in served.raw("GET", "/view/abuse", role=None)[2]
        assert logged_in(served, "wrong") == (200, "")
        for role, sees in ((Role.READER, False), (Role.OWNER, True)):
            status, cookie = logged_in(served, served.tokens[role])
            assert status == 303 and "HttpOnly" in cookie and "SameSite=strict" in cookie
            value = cookie.partition(";")[0]
            _, _, page = served.raw("GET", "/view/abuse", role=None, Cookie=value)
            assert b"The promise" in page and (b"For the owner only" in page) is sees
            status = served.raw("GET", "/view/abuse/report.html", role=None, Cookie=value)[0]
            assert status == (200 if sees else 403)


def test_no_other_site_can_enter_a_visitor(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        token = served.tokens[Role.READER]
        own = f"http://127.0.0.1:{served.port}"
        assert logged_in(served, token, Origin=own)[0] == 303
        others = "http://evil.example", "null", "http://127.0.0.1:1", f"{own}.evil.example", ""
        no_addresses = "http://[", "http://[::1", "http://a]b", "http://[zz]"
        for origin in (*others, *no_addresses):
            assert logged_in(served, token, Origin=origin) == (403, "")
            assert served.raw("POST", "/logout", b"", role=None, Origin=origin)[0] == 403


def test_an_owner_compares_with_hindsight_and_nobody_else_does(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("line", concepts="thresholds:8", **BUDGET)
        served.client().send_many("line", [(x, int(x >= 5)) for x in range(8)] * 10)
        status, _, content = served.raw("GET", "/view/line/baselines")
        assert status == 200 and "always 0: 30 mistakes (the best constant)" in content.decode()
        assert "the best of all rules of the class: 0 mistakes" in content.decode()
        for role in (Role.READER, Role.WRITER):
            assert served.raw("GET", "/view/line/baselines", role=role)[0] == 403


def test_what_is_listed_is_text(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.client().send_many("abuse", [(HOSTILE, 1)] * 40)
        for path in ("/", "/view/abuse", "/view/abuse/now"):
            _, headers, page = served.raw("GET", path)
            assert b"&lt;script&gt;" in page and b"<script>" not in page
            assert "script-src 'self'" in headers["content-security-policy"]


def test_the_published_file_can_be_verified(tmp_path: Path) -> None:
    with serving(tmp_path / "runs") as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.client().send_many("abuse", [("k", 1)] * 40)
        file = tmp_path / "published.jsonl"
        file.write_bytes(served.raw("GET", "/view/abuse/published.jsonl", role=Role.READER)[2])
    assert examine(file, tmp_path / "runs" / "abuse" / "store").last == 2


def test_assets_are_ours_and_small(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        sizes = [len(served.raw("GET", f"/static/{name}", role=None)[2]) for name in ASSETS]
        assert min(sizes) > 500 and sum(sizes) <= 100 << 10
        assert served.raw("GET", "/static/..%2Fapp.py", role=None)[0] == 404


def test_a_threshold_is_a_number_line() -> None:
    drawn = picture(ThresholdHypothesis(8, 3), IntegerRange(8))
    assert 'aria-label="1 on 3 to 7"' in drawn and len(re.findall("<rect", drawn)) == 2


@pytest.mark.parametrize("size", [10**12])
def test_a_large_line_is_drawn_without_visiting_it(size: int) -> None:
    assert "<rect" in picture(ThresholdHypothesis(size, 3), IntegerRange(size))


def test_a_token_of_one_run_shows_that_run(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        for name in ("mine", "theirs"):
            served.client().create(name, concepts="keys", **BUDGET)
        all_runs = served.service.tokens
        served.service.tokens = Tokens(
            tuple(
                replace(entry, run="mine") if entry.role is Role.READER else entry
                for entry in all_runs.entries
            )
        )
        _, _, page = served.raw("GET", "/", role=Role.READER)
        assert b"/view/mine" in page and b"/view/theirs" not in page
        _, _, page = served.raw("GET", "/", role=Role.WRITER)
        assert b'name="token"' in page and "a writer’s".encode() in page
        assert b"writer" not in served.raw("GET", "/", role=None)[2]


def test_the_commands_of_a_run_page_can_be_run_as_they_are(tmp_path: Path) -> None:
    """For every kind of field: the service takes the event and the points that the page shows."""
    schema = {
        "delay": {"range": [0, 60], "missing": "own value"},
        "it's": {"values": ["a'b", "c"]},
        "shop": {"buckets": 8},
        "left": {"date": ["hour", "weekday"]},
    }
    with serving(tmp_path) as served:
        served.client().create("table", schema=schema, epsilon=1.0)
        served.client().create("abuse", concepts="keys", **BUDGET)
        served.client().create("line", concepts="thresholds:8", **BUDGET)
        for name in ("table", "abuse", "line"):
            page = served.raw("GET", f"/view/{name}")[2].decode()
            shown = html.unescape(page.partition("<pre>curl ")[2].partition("</pre>")[0])
            assert "Delete the run" in page
            for command in f"curl {shown}".split("\n\n"):
                words = shlex.split(command)
                assert words[1].startswith(f"http://127.0.0.1:{served.port}/runs/{name}/")
                path, body = urlsplit(words[1]).path, words[-1].encode()
                status, _, told = served.raw("POST", path, body)
                assert status == 200, (command, told)
        served.client().send_many("abuse", [("k", 1)] * 40)
        assert b"Delete the run" not in served.raw("GET", "/view/abuse")[2]  # it would be refused


def test_who_logs_out_has_no_cookie(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        cookie = logged_in(served, served.tokens[Role.READER])[1].partition(";")[0]
        assert b'action="/logout"' in served.raw("GET", "/", role=None, Cookie=cookie)[2]
        assert b'action="/logout"' not in served.raw("GET", "/", role=Role.READER)[2]
        status, headers, _ = served.raw("POST", "/logout", b"", role=None, Cookie=cookie)
        assert status == 303 and 'token="";' in headers["set-cookie"]
        status, headers, _ = served.raw(
            "POST", "/logout", b"", role=None, Cookie=cookie, Origin="http://evil.example"
        )
        assert status == 403 and "set-cookie" not in headers


def test_a_bare_list_of_events_is_refused_with_the_forms_that_are_taken(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        served.client().create("abuse", concepts="keys", **BUDGET)
        sent = b' [{"x": "k", "y": 1}]'
        status, _, told = served.raw("POST", "/runs/abuse/events", sent)
        assert status == 422 and b"application/x-ndjson" in told and b"events" in told
