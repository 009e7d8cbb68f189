"""A one-page report of a durable run: for its owner and for whoever asks what was promised."""

import html
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from littlestone import __version__
from littlestone.learners.forms import canonical_form
from littlestone.privacy.ledger import Ledger
from littlestone.service.durable import DurableRun
from littlestone.service.learning import Tally

WIDTH, HEIGHT = 640, 260
_BAND: Final = 26
_MOST_RULES: Final = 200
_MOST_STRIPES: Final = 600
_MOST_CHARGES: Final = 2000

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>littlestone: report</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto;
        padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #ddd; padding: .2rem .6rem; }}
td {{ overflow-wrap: anywhere; }} th {{ text-align: left; }}
pre {{ background: #f5f5f5; padding: .6rem; overflow-x: auto; }}
.warn {{ color: #b00; font-weight: bold; }} svg {{ max-width: 100%; height: auto; }}
</style>
<h1>What was learned, and what was promised</h1>
<p>{promise}</p>
{warning}
<table>{facts}</table>
<h2>The rule now in force</h2>
<pre>{rule}</pre>
<h2>Published rules</h2>
{timeline}
<p>{published}</p>
<table><tr><th>release</th><th>from round</th><th>rule</th></tr>{releases}</table>
<h2>For the owner only</h2>
<p class="warn">What follows is computed from the data and is not protected.</p>
<h3>Mistakes so far</h3>
{curve}
<p>{mistakes}</p>
<ul>{hindsight}</ul>
{rows}
<h2>The ledger</h2>
<pre>{ledger}</pre>
<table><tr><th>release</th><th>cost</th><th>rounds</th></tr>{charges}</table>
</html>
"""


def report(
    run: DurableRun,
    *,
    bound: float | None,
    floor: float | None,
    data: str = "",
    tally: Tally | None = None,
) -> str:
    """The page, self-contained; ``data`` says what was read last, ``tally`` what came of it."""
    inner = run.run
    releases = [json.loads(release.body) for release in run.releases()]
    return PAGE.format(
        promise=html.escape(
            f"The {len(releases)} published rules together are differentially private with "
            f"{run.promise}, even if whoever reads them chooses the next example."
        ),
        warning="" if inner.private else '<p class="warn">NOT PRIVATE: this run was seeded.</p>',
        facts=_table(_facts(run, data).items()),
        rule=html.escape(releases[-1]["rule"]),
        timeline=_timeline(releases, run.rounds),
        published=_published(len(releases)),
        releases=_table((r["release"], r["round"] + 1, r["rule"]) for r in _shown(releases)),
        curve=_curve(run.curve(), bound, floor),
        mistakes=html.escape(_words(run, bound, floor)),
        hindsight=_items(run.hindsight().lines(run.mistakes) if run.rounds else []),
        rows="" if tally is None else _rows(tally),
        ledger=html.escape(inner.ledger.text()),
        charges=_charges(inner.ledger),
    )


def _facts(run: DurableRun, data: str) -> Mapping[str, str]:
    """What ran, on what, and when."""
    recipe = run.run.recipe
    facts = {
        "learner": type(recipe).__name__,
        "class": repr(recipe.concepts)[:500],
        "recipe": canonical_form(recipe)[:1000],
        "data": data,
        "rounds": f"{run.rounds:,}",
        "status": run.run.status,
        "run": run.identity,
        "begun": run.created,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "version": f"littlestone {__version__}",
    }
    return {name: told for name, told in facts.items() if told}


def _published(count: int) -> str:
    if count <= _MOST_RULES:
        return ""
    return f"The first and the last {_MOST_RULES // 2} of {count:,} are shown; the log has all."


def _shown(releases: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    half = _MOST_RULES // 2
    return releases if len(releases) <= _MOST_RULES else [*releases[:half], *releases[-half:]]


def _table(rows: Iterable[Sequence[object]]) -> str:
    """Rows whose every cell is data."""
    return "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )


def _items(lines: Iterable[str]) -> str:
    return "".join(
        f"<li{' class=warn' if line.startswith('WARNING') else ''}>{html.escape(line)}</li>"
        for line in lines
    )


def _rows(tally: Tally) -> str:
    """What became of the rows that were read last, by reason."""
    counts = {
        "taken": tally.taken,
        "of these with stand-ins": tally.stood_in,
        "of these unread, their users having had their share": tally.unread,
        "seen before": tally.repeated,
        "rejected": tally.rejected,
    }
    told = [(f"{count:,}", name) for name, count in counts.items()]
    reasons = [
        (f"{count:,}", f"{field!r} {reason}" if field else reason)
        for (field, reason), count in tally.misfits.most_common()
    ]
    return f"<h3>Rows, as they came last</h3><table>{_table([*told, *reasons])}</table>"


def _charges(ledger: Ledger) -> str:
    """Each by itself, as far as anybody would read."""
    charges = ledger.charges
    rows = [(each.mechanism, each.words, each.rounds) for each in charges[-_MOST_CHARGES:]]
    left = len(charges) - len(rows)
    return _table([(f"… {left:,} earlier ones", "", ""), *rows] if left else rows)


def _timeline(releases: Sequence[dict[str, Any]], rounds: int) -> str:
    """Which rule was in force when: one stripe for each, as far as stripes can be told apart."""
    last = max(rounds, 1)
    step = -(-len(releases) // _MOST_STRIPES)
    starts = [(release["round"], release["rule"]) for release in releases[::step]]
    ends = [start for start, _ in starts[1:]] + [last]
    stripes = "".join(
        f'<rect x="{_x(start, last):.2f}" y="0" height="{_BAND}" '
        f'width="{max(_x(end, last) - _x(start, last), 0.3):.2f}" '
        f'fill="{("#06c", "#9cf")[place % 2]}"><title>from round {start + 1}: '
        f"{html.escape(rule[:200])}</title></rect>"
        for place, ((start, rule), end) in enumerate(zip(starts, ends, strict=True))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {_BAND + 18}" role="img" aria-label="which rule was in force">'
        f'{stripes}<text x="40" y="{_BAND + 14}" font-size="12">round 1</text>'
        f'<text x="{WIDTH - 10}" y="{_BAND + 14}" font-size="12" text-anchor="end">'
        f"round {last:,}</text></svg>"
    )


def _words(run: DurableRun, bound: float | None, floor: float | None) -> str:
    words = f"{run.mistakes:,} mistakes in {run.rounds:,} rounds."
    if bound is not None:
        words += f" With probability 95 % at most {bound:.0f} are made if some rule always fits."
    if floor is not None:
        words += f" No learner of this kind can promise fewer than {floor:.1f}."
    return words


def _curve(points: Sequence[tuple[int, int]], bound: float | None, floor: float | None) -> str:
    """Cumulative mistakes as a line; bound and floor as dashed ones where they fit."""
    last = max(points[-1][0], 1)
    top = max(points[-1][1], floor or 0, 1)
    if bound is not None and bound <= 10 * top:
        top = max(top, bound)
    path = " ".join(f"{_x(r, last):.1f},{_y(m, top):.1f}" for r, m in [(0, 0), *points])
    lines = "".join(
        _level(name, value, top)
        for name, value in (("bound", bound), ("floor", floor))
        if value is not None and value <= top
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="mistakes against rounds">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<polyline points="{path}" fill="none" stroke="#06c" stroke-width="2"/>{lines}'
        f'<text x="40" y="{HEIGHT - 6}" font-size="12">0</text>'
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 6}" font-size="12" text-anchor="end">'
        f"round {last:,}</text>"
        f'<text x="36" y="18" font-size="12" text-anchor="end">{top:.0f}</text></svg>'
    )


def _level(name: str, value: float, top: float) -> str:
    y = _y(value, top)
    return (
        f'<line x1="40" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#999" '
        f'stroke-dasharray="5 4"/><text x="44" y="{y - 4:.1f}" font-size="12">{name}</text>'
    )


def _x(round_number: int, last: int) -> float:
    return 40 + (WIDTH - 50) * round_number / last


def _y(value: float, top: float) -> float:
    return HEIGHT - 25 - (HEIGHT - 40) * value / top
