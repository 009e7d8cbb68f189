"""The pages: what is published as people read it, and for owners what is theirs alone.

Made from the same public values as every other answer (``wire``); scripts fetch the rest.
"""

from collections.abc import Mapping
from functools import partial
from html import escape
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from littlestone.concepts.protocols import Domain
from littlestone.serve import wire
from littlestone.serve.desk import Service, described, token_of
from littlestone.serve.guarding import MOST_FORM, bounded
from littlestone.serve.rule_pictures import picture
from littlestone.serve.tokens import Role
from littlestone.serve.visible import Shown
from littlestone.service.durable import DurableRun
from littlestone.service.published import release_line
from littlestone.service.report import report

ASSETS: Final[Mapping[str, str]] = {
    "style.css": "text/css",
    "uplot.css": "text/css",
    "uplot.js": "text/javascript",
    "run.js": "text/javascript",
    "arena.css": "text/css",
    "arena.js": "text/javascript",
    "fool.js": "text/javascript",
    "tell.js": "text/javascript",
    "player.js": "text/javascript",
}
# A worker has the policy of its own file. This one runs what somebody typed, which no page does,
# and may load and send nothing; a worker made from text would need the same of the whole page.
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
    """A file of ours; nothing comes from elsewhere."""
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404, "there is no such file")
    content = (files("littlestone.serve") / "static" / name).read_bytes()
    headers = {"Cache-Control": "max-age=3600"}
    if name in POLICIES:
        headers["Content-Security-Policy"] = POLICIES[name]
    return Response(content, media_type=ASSETS[name], headers=headers)


def login_page(problem: str = "") -> Response:
    words = f"<p role=alert>{problem}</p>" if problem else ""
    body = (
        f"{words}<p>A token of a reader or an owner shows the runs.</p>"
        '<form method="post" action="/login"><label>Token <input type="password" name="token" '
        'autocomplete="current-password" required autofocus></label> <button>Enter</button></form>'
    )
    return page("littlestone", body)


async def login(request: Request, known: Any) -> Response:
    """Keep the token in a cookie that no script and no other site can use."""
    refuse_other_sites(request)
    sent = parse_qs((await bounded(request, MOST_FORM)).decode("utf-8", "replace"))
    token = sent.get("token", [""])[0].strip()
    if known(token) is None:
        return login_page("This token is not known here.")
    answer = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    answer.set_cookie("token", token, httponly=True, samesite="strict", secure=secure)
    return answer


def refuse_other_sites(request: Request) -> None:
    """Else a page of somebody else could enter a visitor here with a token of its own."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "this form must be sent from the page of this service")


def index(runs: list[wire.RunOut]) -> Response:
    rows = "".join(map(_row, runs))
    empty = "<p>There is no run yet; an owner creates one with <code>POST /runs</code>.</p>"
    arena = '<a href="/arena">The arena: play the adversary</a>'
    return page("littlestone", f'<ul class="runs">{rows}</ul>' if runs else empty, aside=arena)


def _row(run: wire.RunOut) -> str:
    if run.state != "open":
        what = "is being opened" if run.state == "opening" else "cannot be opened: see the log"
        return f'<li>{escape(run.name)} <span class="quiet">{what}</span></li>'
    return (
        f'<li><a href="/view/{run.name}">{run.name}</a><span class="quiet">'
        f"{escape(run.learner or '')}, {escape(run.promise or '')}</span>"
        f'<p class="rule">{escape(_short(run.rule or ""))}</p></li>'
    )


def _short(rule: str) -> str:
    return rule if len(rule) <= 120 else f"{rule[:119]}…"


def run_page(
    run: wire.RunOut, promised: wire.GuaranteeOut, shown: Shown, domain: Domain, *, owner: bool
) -> Response:
    """One run; with the owner's part if an owner looks."""
    name, chain = run.name, shown.release.chain.hex()[:16]
    body = (
        f'<div id="now" aria-live="polite">{now(shown, domain)}</div>{_promise(run, promised)}'
        '<h2>Releases</h2><div id="timeline" class="chart" role="img" aria-label="no release yet">'
        "</div>"
        f'<p><a href="/view/{name}/published.jsonl" download>Everything published</a>, a line for '
        f"each release; <code>littlestone verify</code> checks it. The hash over all of it begins "
        f'with <code>{chain}</code> (<a href="/runs/{name}/chain">whole</a>).</p>'
        f"{_owner(name) if owner else ''}"
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
    """The rule in force, in words and as a picture."""
    release = shown.release
    return (
        f"<h2>The rule now</h2>{picture(shown.hypothesis, domain)}"
        f'<p class="rule">{escape(shown.rule[:4000])}</p>'
        f'<p class="quiet">release {release.number:,}, in force since round {release.round:,}</p>'
    )


def _promise(run: wire.RunOut, promised: wire.GuaranteeOut) -> str:
    """The promise on a scale that means something: how often an attacker is right."""
    place = 640 * promised.best_guess
    limit = "no limit" if run.rounds is None else f"{run.rounds:,} rounds"
    said = "".join(
        f'<p role="note">On {escape(when)} its owner adopted a copy of its files, and says that no '
        f"other copy went on: the promise rests on that.</p>"
        for when in run.adopted
    )
    return (
        f"<h2>The promise</h2><p>{escape(promised.promise)}, for {escape(promised.protects)}, "
        f"{limit}. "
        f"Whoever reads everything here, chooses events, and could only toss a coin about one of "
        f"them before, is right about it at most <strong>{100 * promised.best_guess:.0f} %</strong>"
        f" of the time.</p>{said}"
        f'<svg viewBox="0 0 640 46" role="img" aria-label="at most {100 * promised.best_guess:.0f} '
        f'percent"><rect class="zeros" x="0" y="8" width="640" height="12"/>'
        f'<rect class="ones" x="320" y="8" width="{place - 320:.1f}" height="12"/>'
        f'<line class="mark" x1="{place:.1f}" x2="{place:.1f}" y1="2" y2="26"/>'
        f'<text x="320" y="42" text-anchor="middle">50 %: a coin</text>'
        f'<text x="640" y="42" text-anchor="end">100 %: certain</text></svg>'
    )


def _owner(name: str) -> str:
    return (
        '<section class="owner"><h2>For the owner only</h2><p>Mistakes are computed from the '
        'labels and are not protected.</p><div id="mistakes" class="chart" role="img" '
        'aria-label="no mistake yet"></div>'
        '<div id="baselines"></div>'
        f'<p><a href="/runs/{name}/ledger">Ledger</a> · <a href="/view/{name}/report.html">Report'
        "</a></p></section>"
    )


def published(run: DurableRun, *, up_to: int) -> bytes:
    """The file that ``littlestone learn --out`` would have written, as far as it is visible."""
    lines = (
        release_line(one) + b"\n" for _, one in zip(range(up_to), run.releases(), strict=False)
    )
    return b"".join(lines)


def baselines(run: DurableRun) -> str:
    """What the owner compares with, in hindsight: it is made from the labels, as mistakes are."""
    lines = [f"so far: {run.mistakes:,} mistakes", *run.hindsight().lines(run.mistakes)]
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def owner_report(run: DurableRun) -> str:
    return report(run, bound=None, floor=None)


# The routes.


def _looks(service: Service, request: Request, role: Role) -> bool:
    return service.may(request, role)


async def look_at_all(service: Service, request: Request) -> Response:
    """The runs that this token may read: all, or those that it was made for."""
    token = token_of(request)
    every = sorted([*service.runs, *service.runs.unreadable])
    named = [name for name in every if service.tokens.allows(token, Role.READER, name)]
    if not named and not _looks(service, request, Role.READER):
        known = service.tokens.holder(token) is not None
        return login_page("This token is a writer’s: it reads nothing." if known else "")
    return index([described(service, name) for name in named])


async def log_in(service: Service, request: Request) -> Response:
    return await login(request, service.tokens.holder)


async def look_at(service: Service, request: Request) -> Response:
    if not _looks(service, request, Role.READER):
        return login_page()
    shown, recipe = service.shown(request), service.recipe(request)
    told = described(service, request.path_params["run"])
    promised = wire.guarantee_out(service.runs.asked(told.name), recipe)
    owner = _looks(service, request, Role.OWNER)
    domain = recipe.concepts.domain
    return run_page(told, promised, shown, domain, owner=owner)


async def look_at_rule(service: Service, request: Request) -> Response:
    service.role_of(request, Role.READER)
    return HTMLResponse(now(service.shown(request), service.recipe(request).concepts.domain))


async def look_at_baselines(service: Service, request: Request) -> Response:
    service.role_of(request, Role.OWNER)
    return HTMLResponse(await service.owner(request).ask(baselines))


async def download_published(service: Service, request: Request) -> Response:
    service.role_of(request, Role.READER)
    newest = service.shown(request).release.number
    content = await service.owner(request).ask(partial(published, up_to=newest))
    return Response(content, media_type="application/jsonl")


async def download_report(service: Service, request: Request) -> Response:
    """As a file: it brings its own styles, which these pages do not allow."""
    service.role_of(request, Role.OWNER)
    content = await service.owner(request).ask(owner_report)
    return HTMLResponse(content, headers={"Content-Disposition": "attachment"})


PAGES: Final = (
    ("GET", "/", look_at_all),
    ("POST", "/login", log_in),
    ("GET", "/view/{run}", look_at),
    ("GET", "/view/{run}/now", look_at_rule),
    ("GET", "/view/{run}/baselines", look_at_baselines),
    ("GET", "/view/{run}/published.jsonl", download_published),
    ("GET", "/view/{run}/report.html", download_report),
)
