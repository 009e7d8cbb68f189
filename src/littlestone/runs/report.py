"""Write the report of a durable run: one page for its owner and the privacy officer.

The file and the service show the same page, in the style of the other pages of the service.
"""

import hashlib
import html
import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from littlestone import __version__
from littlestone.concepts.hypotheses.pictures import picture
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.records.declarations import html_table
from littlestone.concepts.schema import Schema
from littlestone.learners.forms import canonical_form
from littlestone.privacy.ledger import Ledger
from littlestone.runs.durable import DurableRun
from littlestone.runs.learning import Tally
from littlestone.runs.published import steady_rule

WIDTH, HEIGHT = 640, 260
_LEFT: Final = 10
_BAND: Final = 26
_MOST_RULES: Final = 200
_MOST_STRIPES: Final = 600
_MOST_CHARGES: Final = 2000

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>littlestone: report</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
{style}</style></head><body class="report">
<header><h1>What was learned, and what was promised</h1>
<span class="quiet">{written}</span></header>
<main>{warning}
<section class="card"><h2>In short</h2>{promise}{rule}{mistakes}</section>
<h2>What may be published</h2>{publish}
<h2>What is learned from</h2>{schema}
<section class="owner"><h2>Mistakes over time</h2>
<p>For the owner only: this is computed from the labels and is not protected.</p>
{curve}<p>{words}</p><ul>{hindsight}</ul>{rows}</section>
<h2>Published rules</h2>{timeline}
<details><summary>{count}</summary><div class="scroll"><table>
<tr><th>release</th><th>from round</th><th>rule</th></tr>{releases}</table></div></details>
<h2>The ledger</h2><p>{ledger}</p>
<details><summary>Every entry</summary><div class="scroll"><table>
<tr><th>release</th><th>cost</th><th>rounds</th></tr>{charges}</table></div>
<pre>{explained}</pre></details>
<h2>Where this comes from</h2><table class="facts">{facts}</table>
<details><summary>The recipe, all of it</summary><pre>{recipe}</pre></details>
</main></body></html>
"""


def report(
    run: DurableRun,
    *,
    bound: float | None,
    floor: float | None,
    data: str = "",
    tally: Tally | None = None,
) -> str:
    """Write the page, which includes its styles and needs no other file.

    A ``bound`` is one that is not vacuous, a ``floor`` what no learner with this promise avoids.
    ``data`` and ``tally`` are about the rows that were read last.
    """
    inner = run.run
    releases = [json.loads(release.body) for release in run.releases()]
    steady = steady_rule(releases)
    return PAGE.format(
        style=(files("littlestone") / "http" / "static" / "style.css").read_text("utf-8"),
        written=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        warning="" if inner.private else '<p role="alert">NOT PRIVATE: this run was seeded.</p>',
        promise=_promise(run, len(releases)),
        rule=_rule(releases[-1], steady, inner.recipe.concepts),
        mistakes=_compared(run),
        publish=_PUBLISH,
        schema=_schema(inner.recipe.concepts),
        curve=_curve(run, bound, floor),
        words=html.escape(_words(run, bound, floor)),
        hindsight=_items(run.hindsight().lines(run.mistakes) if run.rounds else []),
        rows="" if tally is None else _rows(tally),
        timeline=_timeline(releases, run.rounds),
        count=_count(len(releases)),
        releases=_table((r["release"], r["round"] + 1, cut(r["rule"])) for r in _shown(releases)),
        ledger=html.escape(ledger_in_words(inner.ledger, len(releases))),
        charges=_charges(inner.ledger),
        explained=html.escape(inner.ledger.text()),
        facts=_named(_facts(run, data).items()),
        recipe=html.escape(canonical_form(inner.recipe)),
    )


def class_in_words(concepts: ConceptClass) -> str:
    """Name a class and its domain in words.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> class_in_words(Thresholds(1024))
    'thresholds on 1,024 points'
    """
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(concepts).__name__).lower()
    domain = concepts.domain
    if isinstance(domain, Schema):
        fields = len(domain.fields)
        return f"{name} over {fields} field{'s' if fields > 1 else ''}"
    return f"{name} on {f'{domain.size:,} points' if domain.size else 'keys of any kind'}"


def ledger_in_words(ledger: Ledger, rules: int) -> str:
    """Return what was published and why it costs no more than it does."""
    cost = str(ledger.spent())
    kinds = Counter(each.mechanism for each in ledger.charges)
    number = f"{rules:,} rule{'s' if rules > 1 else ''}"
    if list(kinds) == ["draws from disjoint batches"]:
        return (
            f"{number}, drawn from disjoint batches: each event was read once, so all of them "
            f"together cost {cost}."
        )
    named = ", ".join(f"{count:,} × {kind}" if count > 1 else kind for kind, count in kinds.items())
    entries = f" The ledger has {named}." if named else ""
    return f"{number}, which together cost {cost} for each event.{entries}"


def guesses(best_guess: float) -> str:
    """End a paragraph with how often an attacker is right at most, and draw it."""
    place, half, percent = WIDTH * best_guess, WIDTH // 2, f"{100 * best_guess:.0f}"
    return (
        "About an event that is otherwise a coin toss, an attacker who reads everything and "
        f"chooses events is right at most <strong>{percent} %</strong> of the time.</p>"
        f'<svg viewBox="0 0 {WIDTH} 46" role="img" aria-label="at most {percent} percent">'
        f'<rect class="zeros" x="0" y="8" width="{WIDTH}" height="12"/>'
        f'<rect class="ones" x="{half}" y="8" width="{place - half:.1f}" height="12"/>'
        f'<line class="mark" x1="{place:.1f}" x2="{place:.1f}" y1="2" y2="26"/>'
        f'<text x="{half}" y="42" text-anchor="middle">50 %: a coin</text>'
        f'<text x="{WIDTH}" y="42" text-anchor="end">100 %: certain</text></svg>'
    )


_PUBLISH: Final = """<div class="scroll"><table>
<tr><th>you may publish</th><td>every rule, its number and its round; predictions made with them;
the promise, the schema and the recipe; the file that <code>learn --out</code> writes</td></tr>
<tr><th>you may not</th><td>mistakes, baselines, the curve and the counts of rows on this page, and
hence this page; the store, its key and its snapshots; when an event arrived</td></tr>
<tr><th>it adds up</th><td>whatever else is published about the same people costs more, in this run
or elsewhere: <code>littlestone budget</code> keeps the sum</td></tr></table></div>"""


def _promise(run: DurableRun, rules: int) -> str:
    said = html.escape(
        f"All {rules:,} published rules together are private with {run.promise}, even if those "
        f"who read them choose the next event."
    )
    return f"<p>{said} {guesses(run.run.recipe.guarantee().best_guess)}"


def _rule(newest: Mapping[str, Any], steady: Hypothesis, concepts: ConceptClass) -> str:
    words = steady.describe()
    drawn = picture(steady, concepts.domain) or f'<p class="rule">{html.escape(words)}</p>'
    last = ""
    if words != newest["rule"]:
        last = f" The last release says: <code>{html.escape(cut(newest['rule']))}</code>."
    return (
        f"<h3>The rule now</h3>{drawn}<p class='quiet'>As predict uses it, after release "
        f"{newest['release']:,} in round {newest['round']:,}.{last}</p>"
    )


def _compared(run: DurableRun) -> str:
    """Draw the mistakes beside those of the best constant and the best rule."""
    if not run.rounds:
        return "<h3>Mistakes</h3><p>No event was read yet.</p>"
    shown = [("made", run.mistakes), *_rivals(run)]
    top = max(1, *(count for _, count in shown))
    bars = "".join(
        f'<text x="0" y="{30 * place + 20}">{html.escape(name)}</text>'
        f'<rect class="{"zeros" if place else "ones"}" x="150" y="{30 * place + 6}" height="18" '
        f'width="{300 * count / top:.1f}"/>'
        f'<text x="{156 + 300 * count / top:.1f}" y="{30 * place + 20}">{count:,} '
        f"({100 * count / run.rounds:.1f} %)</text>"
        for place, (name, count) in enumerate(shown)
    )
    return (
        f"<h3>Mistakes in {run.rounds:,} rounds</h3>"
        f'<svg viewBox="0 0 {WIDTH} {30 * len(shown) + 4}" role="img" '
        f'aria-label="mistakes beside the best constant and the best rule">{bars}</svg>'
        f'<p class="quiet">For the owner only: these numbers are not protected.</p>'
    )


def _rivals(run: DurableRun) -> list[tuple[str, int]]:
    """Return the mistakes of the best constant and, where known, of the best rule."""
    known = run.hindsight()
    found = [(f"always {known.constant}", known.constant_mistakes)]
    if known.rule_mistakes is not None:
        name = "best question" if "one question" in known.rules else "best rule"
        found.append((name, known.rule_mistakes))
    return found


def _schema(concepts: ConceptClass) -> str:
    words = f"<p>{html.escape(class_in_words(concepts).capitalize())}.</p>"
    if not isinstance(concepts.domain, Schema):
        return words
    return f'{words}<div class="scroll">{html_table(concepts.domain.fields)}</div>'


def _facts(run: DurableRun, data: str) -> Mapping[str, str]:
    """Return what ran, on what, and when, with the hashes by which others check it."""
    recipe = run.run.recipe
    facts = {
        "learner": type(recipe).__name__,
        "class": class_in_words(recipe.concepts),
        "data": data,
        "rounds": f"{run.rounds:,}",
        "status": run.run.status,
        "run": run.identity,
        "begun": run.created,
        "version": f"littlestone {__version__}",
        "hash of all releases": run.newest.chain.hex(),
        "hash of the recipe": hashlib.sha256(canonical_form(recipe).encode()).hexdigest(),
    }
    return {name: shown for name, shown in facts.items() if shown}


def _count(count: int) -> str:
    if count <= _MOST_RULES:
        return f"All {count:,} rules"
    return f"The first and the last {_MOST_RULES // 2} of {count:,} rules; the log has all"


def _shown(releases: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    half = _MOST_RULES // 2
    return releases if len(releases) <= _MOST_RULES else [*releases[:half], *releases[-half:]]


def cut(words: str, most: int = 300) -> str:
    """Shorten a text to ``most`` characters."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _table(rows: Iterable[Sequence[object]]) -> str:
    """Format rows in which every cell is data."""
    return "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )


def _named(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(shown)}</td></tr>"
        for name, shown in rows
    )


def _items(lines: Iterable[str]) -> str:
    return "".join(
        f"<li{' role=alert' if line.startswith('WARNING') else ''}>{html.escape(line)}</li>"
        for line in lines
    )


def _rows(tally: Tally) -> str:
    """Summarize what happened to the rows that were read last, by reason."""
    counts = {
        "taken": tally.taken,
        "of these with stand-ins": tally.stood_in,
        "of these not read, because their users reached max_contributions": tally.over_limit,
        "seen before": tally.repeated,
        "rejected": tally.rejected,
    }
    shown = [(f"{count:,}", name) for name, count in counts.items()]
    reasons = [
        (f"{count:,}", f"{field!r} {reason}" if field else reason)
        for (field, reason), count in tally.misfits.most_common()
    ]
    rows = _table([*shown, *reasons])
    return f'<h3>Rows that were read last</h3><table class="counts">{rows}</table>'


def _charges(ledger: Ledger) -> str:
    """List the charges one by one, up to a limit."""
    charges = ledger.charges
    rows = [(each.mechanism, each.words, each.rounds) for each in charges[-_MOST_CHARGES:]]
    left = len(charges) - len(rows)
    return _table([(f"… {left:,} earlier ones", "", ""), *rows] if left else rows)


def _timeline(releases: Sequence[dict[str, Any]], rounds: int) -> str:
    """Draw which rule was in force when: one stripe for each, up to a limit."""
    last = max(rounds, 1)
    step = -(-len(releases) // _MOST_STRIPES)
    starts = [(release["round"], release["rule"]) for release in releases[::step]]
    ends = [start for start, _ in starts[1:]] + [last]
    stripes = "".join(
        f'<rect x="{_x(start, last):.2f}" y="0" height="{_BAND}" '
        f'width="{max(_x(end, last) - _x(start, last), 0.3):.2f}" '
        f'class="{("ones", "zeros")[place % 2]}"><title>from round {start + 1}: '
        f"{html.escape(cut(rule))}</title></rect>"
        for place, ((start, rule), end) in enumerate(zip(starts, ends, strict=True))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {_BAND + 22}" role="img" aria-label="which rule was in force">'
        f'{stripes}<text x="{_LEFT}" y="{_BAND + 18}">round 1</text>'
        f'<text x="{WIDTH - 10}" y="{_BAND + 18}" text-anchor="end">round {last:,}</text></svg>'
    )


def _words(run: DurableRun, bound: float | None, floor: float | None) -> str:
    words = f"{run.mistakes:,} mistakes in {run.rounds:,} rounds."
    if bound is not None:
        words += f" With probability 95 % at most {bound:.0f} are made if some rule always fits."
    if floor is not None:
        words += (
            f" No learner with this promise can make fewer than {math.floor(floor * 10) / 10:,.1f} "
            "on average against an adversary who answers the published rule."
        )
    return words


def _curve(run: DurableRun, bound: float | None, floor: float | None) -> str:
    """Draw cumulative mistakes, with the best constant and rule as straight lines."""
    points = run.curve()
    last = max(points[-1][0], 1)
    slopes = _rivals(run) if run.rounds else []
    top = max(points[-1][1], floor or 0, 1, *(count for _, count in slopes))
    if bound is not None and bound <= 10 * top:
        top = max(top, bound)
    path = " ".join(f"{_x(r, last):.1f},{_y(m, top):.1f}" for r, m in [(0, 0), *points])
    lines = "".join(
        _level(name, value, top)
        for name, value in (("bound", bound), ("floor", floor))
        if value is not None and value <= top
    )
    named: dict[int, list[str]] = {}  # lines that coincide have one name
    for name, count in slopes:
        named.setdefault(count, []).append(name)
    dashes = "".join(
        _slope(", ".join(names), count, top, place, above=count >= points[-1][1])
        for place, (count, names) in enumerate(named.items())
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="mistakes against rounds">'
        f'<polyline class="line" points="{path}"/>{dashes}{lines}'
        f'<text x="{_LEFT}" y="{HEIGHT - 6}">0</text>'
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 6}" text-anchor="end">round {last:,}</text>'
        f'<text x="0" y="16">{top:,.0f}</text></svg>'
    )


def _slope(name: str, count: int, top: float, place: int, *, above: bool) -> str:
    """Draw a line with its name on the side that is away from the curve."""
    # Two names must not overlap, and one below the curve not the end of the axis.
    share = 0.55 + 0.2 * place if above else 0.25
    x, y = _x(1, 1), _y(count, top)
    at = _LEFT + (x - _LEFT) * share, _y(count * share, top) + (-8 if above else 16)
    anchor = ' text-anchor="end"' if above else ""
    return (
        f'<line class="dashed" x1="{_LEFT}" x2="{x:.1f}" y1="{_y(0, top):.1f}" y2="{y:.1f}"/>'
        f'<text x="{at[0]:.1f}" y="{at[1]:.1f}"{anchor}>{html.escape(name)}</text>'
    )


def _level(name: str, value: float, top: float) -> str:
    y = _y(value, top)
    return (
        f'<line class="dashed" x1="{_LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{_LEFT + 4}" y="{y - 4:.1f}">{name}</text>'
    )


def _x(round_number: int, last: int) -> float:
    return _LEFT + (WIDTH - _LEFT - 10) * round_number / last


def _y(value: float, top: float) -> float:
    return HEIGHT - 25 - (HEIGHT - 40) * value / top
