"""Build the pages of the arena from the static files beside this module."""

from html import escape
from typing import Final

from starlette.responses import Response

from littlestone.http.pages import STATIC, page
from littlestone.lab.arena.boards import BOARDS, EPSILONS, NAMES
from littlestone.lab.arena.telling import SUSPECTS

PLACES: Final = (
    ("/arena", "Fool it"),
    ("/arena/tell", "Tell two worlds apart"),
    ("/arena/about", "What is this?"),
)

NOTES: Final = {
    "adversary": (
        "What may you know?",
        "Everything but the noise: the algorithm, its numbers, and each rule before you choose the "
        "next example. So nobody who watches or feeds a stream can do better than you",
    ),
    "restarts": (
        "Why are restarts free?",
        "When a copy of the learner is used up, a new one starts with fresh noise; your example "
        "was in one copy only. The promise holds whatever was shown before, so all copies "
        "together cost no more than one",
    ),
    "delta": (
        "What is δ?",
        "With probability at most δ a release may reveal more than ε allows; otherwise ε "
        "holds. It covers the whole stream, and should be far below one over the number "
        "of people in it",
    ),
    "bound": (
        "How can guesses refute a claim?",
        "Right more often than e^ε : 1, you found a leak or were lucky. The bound is an ε "
        "that your guesses rule out; it holds whenever you look, and is wrong in one arena of a "
        "hundred",
    ),
}


def fool_page() -> Response:
    """Build the page of *fool it*."""
    boards = "".join(
        f'<option value="{name}" data-learners="{" ".join(board.learners)}">{escape(board.title)}'
        "</option>"
        for name, board in BOARDS.items()
    )
    learners = "".join(f'<option value="{name}">{words}</option>' for name, words in NAMES.items())
    epsilons = "".join(
        f'<option value="{value:g}"{" selected" if value == 2 else ""}>{value:g}</option>'
        for value in EPSILONS
    )
    body = _text("fool").format(boards=boards, learners=learners, epsilons=epsilons)
    return _page("fool", body + _notes("adversary", "restarts", "delta"), "fool.js")


def tell_page() -> Response:
    """Build the page of *tell two worlds apart*."""
    learners = "".join(
        f'<option value="{name}">{escape(suspect.title)}</option>'
        for name, suspect in SUSPECTS.items()
    )
    body = _text("tell").format(learners=learners)
    return _page("tell", body + _notes("adversary", "bound", "delta"), "tell.js")


def about_page() -> Response:
    """Build the page that explains the arena."""
    return _page("about", _text("about"), None)


def _text(name: str) -> str:
    return (STATIC / f"{name}.html").read_text(encoding="utf-8")


def _page(name: str, body: str, script: str | None) -> Response:
    here = {"fool": "/arena", "tell": "/arena/tell", "about": "/arena/about"}[name]
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if path == here else ""}>{words}</a>'
        for path, words in PLACES
    )
    code = f'<script type="module" src="/static/{script}"></script>' if script else ""
    return page(
        "arena",
        f'<nav class="tabs" aria-label="Arena">{links}</nav>{body}{code}',
        head='<link rel="stylesheet" href="/static/arena.css">',
        attributes=f' class="arena" data-page="{name}"',
    )


def _notes(*names: str) -> str:
    cards = "".join(
        f"<div><h3>{NOTES[name][0]}</h3><p>{NOTES[name][1]} "
        f'(<a href="/arena/about#{name}">more</a>).</p></div>'
        for name in names
    )
    return f'<section class="notes" aria-label="Explanations">{cards}</section>'
