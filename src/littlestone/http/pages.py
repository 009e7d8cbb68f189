"""Build the web pages: the list of runs, one run, the login, and the downloads."""

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from html import escape
from importlib.resources import files
from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from littlestone.concepts.hypotheses.pictures import picture
from littlestone.concepts.protocols import Domain
from littlestone.concepts.schema import Buckets, Category, Numeric, Schema
from littlestone.http import wire
from littlestone.http.limits import MOST_FORM, bounded
from littlestone.http.service import Role, Service, described, token_of
from littlestone.http.visible import Shown
from littlestone.runs.durable import DurableRun
from littlestone.runs.published import release_line
from littlestone.runs.report import cut, guesses, report

STATIC: Final = files("littlestone.http") / "static"
ASSETS: Final = [each.name for each in STATIC.iterdir() if each.name.endswith((".css", ".js"))]
# A worker has the policy of its own file. This one runs code that the visitor types, and may load
# and send nothing; a worker made from text would need the same policy for the whole page.
POLICIES: Final[Mapping[str, str]] = {"player.js": "default-src 'none'; script-src 'unsafe-eval'"}
RECENT: Final = 20

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/style.css">{head}</head>
<body{attributes}><header><h1><a href="/">littlestone</a> {crumb}</h1>{aside}</header>
<main>{body}</main></body></html>"""


def page(
    title: str, body: str, *, head: str = "", attributes: str = "", aside: str = ""
) -> Response:
    """Wrap a body in the layout of the site."""
    crumb = f"/ {escape(title)}" if title != "littlestone" else ""
    return HTMLResponse(
        PAGE.format(
            title=escape(title),
            head=head,
            attributes=attributes,
            crumb=crumb,
            aside=aside,
            body=body,
        )
    )


async def asset(request: Request) -> Response:
    """Return a static file of this package."""
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404, "there is no such file")
    headers = {"Cache-Control": "max-age=3600"}
    if name in POLICIES:
        headers["Content-Security-Policy"] = POLICIES[name]
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response((STATIC / name).read_bytes(), media_type=kind, headers=headers)


def login_page(problem: str = "") -> Response:
    """Build the login page, with a message if a login failed."""
    words = f'<p role="alert">{problem}</p>' if problem else ""
    body = (
        '<form class="card" method="post" action="/login"><h2>Log in</h2>'
        "<p>This service learns from private events and publishes rules. A reader’s or an owner’s "
        f"token shows the runs.</p>{words}"
        '<label>Token <input type="password" name="token" autocomplete="current-password" required '
        "autofocus></label><button>Log in</button>"
        '<p class="quiet">The service shows its tokens once, on the terminal of its first start. '
        '<a href="/docs">The API</a></p></form>'
    )
    return page("Log in", body)


def refuse_other_sites(request: Request) -> None:
    """Reject a form of another site: it could log a visitor in with a foreign token."""
    origin = request.headers.get("origin")
    # Not parsed: anyone may send what is no address.
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise HTTPException(403, "this form must be sent from the page of this service")


async def log_out(service: Service, request: Request) -> Response:
    """Delete the cookie with the token; the token stays valid."""
    del service
    refuse_other_sites(request)
    answer = RedirectResponse("/", 303)
    answer.delete_cookie("token", httponly=True, samesite="strict")
    return answer


def index(runs: list[wire.RunOut], *, owner: bool, logged_in: bool) -> Response:
    """List the runs; an owner also gets a form to create one."""
    rows = "".join(map(_row, runs))
    empty = "<p>There is no run yet; an owner creates one.</p>"
    links = '<a href="/arena">The arena: play the adversary</a> <a href="/docs">The API</a>'
    links += LOG_OUT if logged_in else ""
    listed = f'<ul class="runs">{rows}</ul>' if runs else empty
    return page("littlestone", f"{listed}{CREATE if owner else ''}", aside=links)


LOG_OUT: Final = '<form method="post" action="/logout"><button>Log out</button></form>'

CREATE: Final = """<details class="owner"><summary>Create a run</summary>
<form id="create" class="card">
<p>Everything here is public, and fixed before the first event. The learner is chosen for you
unless you name one.</p>
<label>Name <input name="name" required pattern="[a-z0-9][a-z0-9_\\-]{0,63}"></label>
<label>Class <input name="class" placeholder="keys, thresholds:1024, …"></label>
<label>or a schema, as JSON <textarea name="schema" rows="3"
placeholder='{"delay": {"range": [0, 120]}}'></textarea></label>
<label>Rounds <input name="rounds" type="number" min="1" placeholder="1000000"></label>
<label>ε <input name="epsilon" type="number" min="0" step="any" placeholder="1"></label>
<label>δ <input name="delta" type="number" min="0" step="any" placeholder="0.000001"></label>
<label>The events <select name="adversary"><option value="">do not react to the rules</option>
<option value="adaptive">may react to the rules</option></select></label>
<label>Publish every … seconds <input name="publish_every" type="number" min="0" step="any"
placeholder="at once"></label>
<button>Create</button><p role="alert" id="created"></p></form></details>
<script src="/static/create.js"></script>"""


def _row(run: wire.RunOut) -> str:
    if run.state != "open":
        what = "is being opened" if run.state == "opening" else "cannot be opened: see the log"
        return f'<li>{escape(run.name)} <span class="quiet">{what}</span></li>'
    return (
        f'<li><a href="/view/{run.name}">{run.name}</a><span class="quiet">'
        f"{escape(run.learner or '')}, {escape(run.promise or '')}</span>"
        f'<p class="rule">{escape(cut(run.rule or "", 120))}</p></li>'
    )


def run_page(
    run: wire.RunOut,
    promised: wire.GuaranteeOut,
    shown: Shown,
    domain: Domain,
    *,
    owner: bool,
    service: str,
) -> Response:
    """Build the page of one run, with the section for owners if an owner views it.

    ``service`` is the address of the service, for the commands that the page shows.
    """
    name, chain = run.name, shown.release.chain.hex()[:16]
    body = (
        f'<div id="now" aria-live="polite">{now(shown, domain)}</div>{_promise(run, promised)}'
        '<h2>Releases</h2><div id="timeline" class="chart" role="img" aria-label="no release yet">'
        "</div>"
        f'<p><a href="/view/{name}/published.jsonl" download>Everything published</a>, a line for '
        f"each release; <code>littlestone verify</code> checks it. The hash over all of it begins "
        f'with <code>{chain}</code> (<a href="/runs/{name}/chain">whole</a>).</p>'
        f"{_from_programs(run, domain, service)}"
        f"{_owner(name, deletable=shown.release.round == 0) if owner else ''}"
        '<script src="/static/uplot.js"></script><script src="/static/run.js"></script>'
    )
    return page(
        name,
        body,
        head='<link rel="stylesheet" href="/static/uplot.css">',
        attributes=f' data-run="{name}"',
        aside='<span id="live" role="status" class="quiet">connecting</span>',
    )


def now(shown: Shown, domain: Domain) -> str:
    """Render the rule in force, in words and as a picture."""
    release = shown.release
    return (
        f"<h2>The rule now</h2>{picture(shown.hypothesis, domain)}"
        f'<p class="rule">{escape(shown.rule[:4000])}</p>'
        f'<p class="quiet">release {release.number:,}, in force since round {release.round:,}</p>'
    )


def _promise(run: wire.RunOut, promised: wire.GuaranteeOut) -> str:
    """Explain the promise by how often an attacker is right."""
    limit = "in any number of rounds" if run.rounds is None else f"in {run.rounds:,} rounds"
    said = "".join(
        f'<p role="note">On {escape(when)} the owner adopted a copy of the files of this run and '
        f"confirmed that no other copy is in use: the promise depends on that.</p>"
        for when in run.adopted
    )
    return (
        f"<h2>The promise</h2><p>{escape(promised.promise)}, for {escape(promised.protects)} "
        f"{limit}. {guesses(promised.best_guess)}{said}"
    )


def _from_programs(run: wire.RunOut, domain: Domain, service: str) -> str:
    """Show how to send an event and ask for predictions, with a point of the right shape."""
    point = _example(domain)
    if point is None:
        return ""
    user = {} if run.user is None else {"user": "somebody"}
    bodies = (
        ("events", "WRITER", {"id": "event-1", **user, "x": point, "y": 1}),
        ("predict", "READER", {"points": [point]}),
    )
    commands = "\n\n".join(
        f"curl {service}/runs/{run.name}/{path} \\\n"
        f'  -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
        for path, token, body in bodies
    )
    return (
        "<details><summary>Use it from a program</summary><p>Send an event, with an id that a "
        "retry repeats; ask for predictions. WRITER and READER are tokens, and <code>ls.Client"
        f"</code> does the same from Python.</p><pre>{escape(commands)}</pre></details>"
    )


def _example(domain: Domain) -> Any:
    """Return a point of the domain as it is written in JSON; None if none is known."""
    if isinstance(domain, Schema):
        return {part.column: _value_of(part) for part in domain.fields}
    for point in ("spam@example.org", 1):
        with suppress(ValueError, TypeError):
            domain.check(point)
            return point
    return None


def _value_of(part: Numeric | Category) -> Any:
    if part.date is not None:
        return "2026-01-31 17:05"
    if isinstance(part, Buckets):
        return "a text"
    return part.grid[len(part.grid) // 2] if isinstance(part, Numeric) else part.values[0]


def _owner(name: str, *, deletable: bool) -> str:
    delete = (
        ' · <button id="delete">Delete the run</button> <span id="deleted" role="alert"></span> '
        '<span class="quiet">possible until its first event</span>'
    )
    return (
        '<section class="owner"><h2>For the owner only</h2><p>Mistakes are computed from the '
        'labels and are not protected.</p><div id="mistakes" class="chart" role="img" '
        'aria-label="no mistake yet"></div>'
        '<div id="baselines"></div>'
        f'<p><a href="/runs/{name}/ledger">Ledger</a> · <a href="/view/{name}/report.html">Report'
        f"</a>{delete if deletable else ''}</p></section>"
        '<script src="/static/create.js"></script>'
    )


def baselines(run: DurableRun) -> str:
    """Return baselines in hindsight for the owner: they depend on the labels, as mistakes do."""
    lines = [f"so far: {run.mistakes:,} mistakes", *run.hindsight().lines(run.mistakes)]
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


# The routes.


async def look_at_all(service: Service, request: Request) -> Response:
    """Show the runs that the token may read, or the login page."""
    found = service.tokens.entries_of(token_of(request))
    every = service.runs.names
    named = [name for name in every if service.tokens.allow(found, Role.READER, name)]
    if not named and not service.may(request, Role.READER):
        return login_page("This token is a writer’s: it reads nothing." if found else "")
    listed = [described(service, name) for name in named]
    logged_in = "token" in request.cookies
    return index(listed, owner=service.may(request, Role.OWNER), logged_in=logged_in)


async def log_in(service: Service, request: Request) -> Response:
    """Store the token of the form in a cookie that no script and no other site can use."""
    refuse_other_sites(request)
    sent = parse_qs((await bounded(request, MOST_FORM)).decode("utf-8", "replace"))
    token = sent.get("token", [""])[0].strip()
    if service.tokens.holder(token) is None:
        return login_page("This token is unknown.")
    answer = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    answer.set_cookie("token", token, httponly=True, samesite="strict", secure=secure)
    return answer


async def look_at(service: Service, request: Request) -> Response:
    """Show the page of one run, or the login page."""
    if not service.may(request, Role.READER):
        return login_page()
    shown, recipe = service.shown(request), service.recipe(request)
    run = described(service, request.path_params["run"])
    promised = wire.guarantee_out(service.runs.hosted[run.name].terms, recipe)
    owner = service.may(request, Role.OWNER)
    domain = recipe.concepts.domain
    address = str(request.base_url).rstrip("/")
    return run_page(run, promised, shown, domain, owner=owner, service=address)


async def look_at_rule(service: Service, request: Request) -> Response:
    """Return the rule in force as a fragment of HTML."""
    return HTMLResponse(now(service.shown(request), service.recipe(request).concepts.domain))


async def look_at_baselines(service: Service, request: Request) -> Response:
    """Return the baselines as a fragment of HTML, for owners."""
    return HTMLResponse(await service.run_thread(request).ask(baselines))


async def download_published(service: Service, request: Request) -> Response:
    """Return all visible releases of a run as JSON lines, as ``learn --out`` writes them."""
    newest = service.shown(request).release.number

    def visible(run: DurableRun) -> bytes:
        return b"".join(release_line(one) + b"\n" for one in islice(run.releases(), newest))

    content = await service.run_thread(request).ask(visible)
    return Response(content, media_type="application/jsonl")


async def download_report(service: Service, request: Request) -> Response:
    """Return the report as a download: its inline styles violate the policy of these pages."""
    content = await service.run_thread(request).ask(partial(report, bound=None, floor=None))
    return HTMLResponse(content, headers={"Content-Disposition": "attachment"})


PAGES: Final = (
    ("GET", "/", None, look_at_all),
    ("POST", "/login", None, log_in),
    ("POST", "/logout", None, log_out),
    ("GET", "/view/{run}", None, look_at),
    ("GET", "/view/{run}/now", Role.READER, look_at_rule),
    ("GET", "/view/{run}/baselines", Role.OWNER, look_at_baselines),
    ("GET", "/view/{run}/published.jsonl", Role.READER, download_published),
    ("GET", "/view/{run}/report.html", Role.OWNER, download_report),
)
