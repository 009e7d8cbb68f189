"""The pages of the arena: everything that stands still; scripts do the rest."""

from html import escape
from typing import Final

from starlette.responses import Response

from littlestone.arena.boards import BOARDS, EPSILONS, NAMES
from littlestone.arena.suspects import SUSPECTS
from littlestone.serve.pages import page

PLACES: Final = (
    ("/arena", "Fool it"),
    ("/arena/tell", "Tell two worlds apart"),
    ("/arena/about", "What is this?"),
)

NOTES: Final = {
    "adversary": (
        "What may you know?",
        "Everything but the noise: the algorithm, its numbers, and each rule before you choose the "
        "next example. So nobody who watches a stream, or feeds it, can do better than you can",
    ),
    "restarts": (
        "Why are restarts free?",
        "When a copy of the learner is used up, a new one begins with fresh noise, and your example "
        "was in one copy only. Since the promise holds whatever was shown before, the copies "
        "together cost no more than one",
    ),
    "delta": (
        "What is δ?",
        "With probability δ at most, a release may tell more than ε allows; in all other cases ε "
        "holds. It is the same for the whole stream, and should be far below one over the number "
        "of people in it",
    ),
    "bound": (
        "How can guesses refute a claim?",
        "Who is right more often than e^ε : 1 allows has found a leak or was lucky. The bound is an "
        "ε that your guesses rule out; it holds whenever you look, and errs in one arena of a "
        "hundred",
    ),
}


def fool_page() -> Response:
    boards = "".join(
        f'<option value="{name}" data-learners="{" ".join(board.learners)}">{escape(board.title)}: '
        f"{escape(board.meaning)}</option>"
        for name, board in BOARDS.items()
    )
    learners = "".join(f'<option value="{name}">{words}</option>' for name, words in NAMES.items())
    epsilons = "".join(
        f'<option value="{value:g}"{" selected" if value == 2 else ""}>{value:g}</option>'
        for value in EPSILONS
    )
    body = FOOL.format(boards=boards, learners=learners, epsilons=epsilons)
    return _page("fool", body + _notes("adversary", "restarts", "delta"), "fool.js")


def tell_page() -> Response:
    learners = "".join(
        f'<option value="{name}">{escape(suspect.title)}</option>'
        for name, suspect in SUSPECTS.items()
    )
    body = TELL.format(learners=learners)
    return _page("tell", body + _notes("adversary", "bound", "delta"), "tell.js")


def about_page() -> Response:
    return _page("about", ABOUT, None)


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
        f'<div><h3>{NOTES[name][0]}</h3><p>{NOTES[name][1]} '
        f'(<a href="/arena/about#{name}">more</a>).</p></div>'
        for name in names
    )
    return f'<section class="notes" aria-label="Explanations">{cards}</section>'


FOOL: Final = """
<p class="lead">You are the adversary. The learner has published a rule; choose examples that it gets
wrong. One thing only: some concept of the class must fit all you have said. The data are made up, by
you; nobody’s privacy is at stake.</p>
<form id="setup" class="bar"><label>Class <select name="board">{boards}</select></label>
<label>Learner <select name="learner">{learners}</select></label>
<label>ε <select name="epsilon">{epsilons}</select></label><button class="main">New game</button></form>
<div class="columns"><section class="card" aria-labelledby="title"><h2 id="title">…</h2>
<p id="promise" class="quiet"></p>
<div id="board" role="group" aria-label="Points; arrow keys move"></div>
<form id="typed" class="bar" hidden><label>Another sender <input name="key" maxlength="40" size="16"
autocomplete="off" required></label><button>Report it</button></form>
<p id="rule" class="rule"></p>
<fieldset class="bar" id="labels"><legend>A click gives the point</legend>
<label><input type="radio" name="label" value="wrong" checked> the label that is a mistake</label>
<label><input type="radio" name="label" value="0"> 0</label>
<label><input type="radio" name="label" value="1"> 1</label></fieldset>
<div class="bar"><button id="again" disabled>Again</button>
<button id="until" disabled>Again, until the rule changes</button></div>
<p id="said" role="status"></p></section>
<section class="card" aria-labelledby="scores"><h2 id="scores">Score</h2>
<p class="big"><strong id="mistakes">0</strong> <span>mistakes in <span id="round">0</span> of
<span id="rounds">500</span> rounds</span></p>
<div id="bars"></div><svg id="curve" viewBox="0 0 320 90" role="img" aria-label="Mistakes by round"></svg>
<div class="bar" role="group" aria-label="Let MistakeForcing play"><span>Let MistakeForcing play</span>
<button class="force" data-times="1">a round</button>
<button class="force" data-times="500" data-until="yes">until the rule changes</button>
<button class="force" data-times="500">to the end</button></div></section></div>
<section class="card" aria-labelledby="keep"><h2 id="keep">Keep, share, replay</h2>
<div class="bar"><a class="button" id="download" download="game.json" href="#">Save as JSON</a>
<label class="button">Open a game <input type="file" id="file" accept="application/json,.json"></label>
<button id="fresh" disabled>Same examples, fresh noise</button></div>
<div id="replay" class="bar" hidden><button id="run">Play</button>
<label class="grow">Round <input type="range" id="at" min="0" max="0" value="0"></label>
<output id="atwords"></output><button id="leave">Back to the game</button></div></section>"""

TELL: Final = """
<p class="lead">Two worlds differ in one example, of a round that you choose. A hidden coin decides in
which one you are; watch what the learner shows, and guess. If you are right too often, its promise
is refuted. The data are made up; nobody’s privacy is at stake.</p>
<form id="setup" class="bar"><label>Learner <select name="learner">{learners}</select></label>
<label>It is <select name="wanted"><option value="correct">correct</option>
<option value="broken">broken: one bug, not told which</option>
<option value="coin">a coin decides: correct or broken</option></select></label>
<button class="main">Begin</button></form>
<section class="card" aria-labelledby="proved"><h2 id="proved">What your guesses prove</h2>
<svg id="scale" viewBox="0 0 640 64" role="img" aria-label="no bound yet"></svg>
<p id="verdict" role="status"></p>
<div class="bar"><span id="tally" class="quiet"></span><button id="reveal">Tell me who it was</button></div>
<p id="truth" role="status"></p></section>
<div class="columns"><section class="card" aria-labelledby="hand"><h2 id="hand">By hand</h2>
<p id="facts" class="quiet"></p>
<form id="send" class="bar"><label>Send <input name="x" value="a" size="5" maxlength="40" required></label>
<label>label <select name="y"><option>1</option><option>0</option></select></label>
<label>at most <input name="times" type="number" min="1" max="600" value="1"> times</label>
<button>Send</button></form>
<form id="challenge" class="bar"><span>Special round: world 0 gets</span>
<label><span class="hidden">point in world 0</span><input name="x0" value="a" size="4" maxlength="40" required></label>
<label><span class="hidden">label in world 0</span><select name="y0"><option>1</option><option>0</option></select></label>
<span>world 1 gets</span>
<label><span class="hidden">point in world 1</span><input name="x1" value="b" size="4" maxlength="40" required></label>
<label><span class="hidden">label in world 1</span><select name="y1"><option>0</option><option>1</option></select></label>
<button class="main">Toss the coin</button></form>
<ol id="stream" aria-label="What you sent and what was shown"></ol>
<div class="bar" role="group" aria-label="Your guess"><span>It was</span>
<button class="guess" data-bit="0" disabled>world 0</button><button class="guess" data-bit="1" disabled>world 1</button>
<button class="guess" data-bit="" disabled>no idea</button></div>
<p id="said" role="status"></p>
<label><input type="checkbox" id="same" checked> then play the same moves again</label></section>
<section class="card" aria-labelledby="machine"><h2 id="machine">By program</h2>
<p class="quiet">Ten lines of JavaScript, one call for each game; they run in a worker of this
browser that may not send anything anywhere.</p>
<label>Begin with <select id="sample"></select></label>
<textarea id="code" spellcheck="false" rows="13" aria-label="The program"></textarea>
<div class="bar"><button class="play main" data-games="200">Play 200 games</button>
<button class="play" data-games="2000">2,000</button><button id="stop" disabled>Stop</button></div>
<p id="ran" role="status"></p>
<p class="quiet">In Python: <code>littlestone arena --player FILE.py</code>.</p></section></div>"""

ABOUT: Final = """
<h2>The arena</h2>
<p>Two games from the paper that this library implements. In the first you play against the accuracy of
a learner, in the second against its privacy. Points, labels and streams are made up by whoever plays;
the arena has no store, no tokens and no data of anybody, and forgets a game when it needs the room.</p>
<h2 id="adversary">What you may know</h2>
<p>In round t the learner has published a whole rule h<sub>t</sub>. You see it, and all before it, and
then choose the next example: that is the adversary of the paper’s definition of privacy. For mistakes
the paper lets the adversary see only h<sub>1</sub>, …, h<sub>t−1</sub>; the bounds of the learners here
hold even so, and the built-in adversaries are shown h<sub>t</sub>, too, when their scores are
taken. What you may not know are the learner’s coins.</p>
<h2 id="restarts">Why restarts are free</h2>
<p>A learner that has used up its budget on one copy of itself may throw the copy away and begin another.
Each example is seen by one copy. If the promise of a copy holds <em>conditionally on every prefix</em>,
that is, whatever was shown before the copy began, then the other copies tell nothing about the
example, and the whole stream costs what one copy costs. Where a promise holds only on average over
what was shown before, restarts are not free: <code>restarts-wrongly-free</code> is a control that makes
this mistake, and <code>littlestone audit --broken restarts-wrongly-free</code> catches it.</p>
<h2 id="delta">What δ is</h2>
<p>A promise (ε, δ) says: whatever you look out for, it comes up in one world at most e<sup>ε</sup> times
as often as in the other, plus δ. One may think of it as a learner that promises ε alone, and with
probability δ breaks its word (<a href="https://doi.org/10.1561/0400000042" rel="noreferrer">Dwork and
Roth, section 2.3</a>). The arena’s δ is a thousandth, so that games are short; in earnest it is a
millionth or less.</p>
<h2 id="bound">What guesses prove</h2>
<p>In one game let p be the probability that you guess right and q that you guess wrong; you may also
pass. A promise (ε, δ) means p ≤ e<sup>ε</sup> q + δ. So at most a part δ of your right guesses is luck
of that kind, and of the others at most e<sup>ε</sup> in 1 + e<sup>ε</sup> are right, however you change
your mind from game to game. The number of right guesses is then at most binomial, and an exact
binomial bound gives an ε that they rule out. It is taken after 10 guesses and whenever there are a
quarter more, each time with a smaller part of the allowed one per cent, so it is valid whenever you
look and whenever you stop.</p>
<h2 id="hidden">What is hidden, and how well</h2>
<p>The coin is tossed by the server, from the operating system’s randomness, in a stream apart from the
learner’s. It leaves the server only in answer to your guess. Both examples of the special round are
checked before either is used, so a refusal tells nothing. Answers leave at whole multiples of 20 ms
after the question came, so their time tells nothing as long as a learner needs less than that; whoever
can watch the processor of the server itself is not kept out.</p>
<p>Programs run in a worker with a policy of its own: it may evaluate what you typed, which no other part
of these pages may, and in return it may not load or send anything. It talks to the page alone, and
the page makes the moves.</p>"""
