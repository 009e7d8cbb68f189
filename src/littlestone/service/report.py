"""A one-page report of a durable run: for its owner and for whoever asks what was promised."""

import html
import json
from collections.abc import Sequence

from littlestone.service.durable import DurableRun

WIDTH, HEIGHT = 640, 260

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>littlestone: report</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto;
        padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #ddd; padding: .2rem .6rem; }}
pre {{ background: #f5f5f5; padding: .6rem; overflow-x: auto; }}
.warn {{ color: #b00; font-weight: bold; }} svg {{ max-width: 100%; height: auto; }}
</style>
<h1>What was learned, and what was promised</h1>
<p>{promise}</p>
{warning}
<h2>The rule now in force</h2>
<pre>{rule}</pre>
<h2>Published rules</h2>
<table><tr><th>release</th><th>from round</th><th>rule</th></tr>{releases}</table>
<h2>Mistakes so far</h2>
<p class="warn">For the owner only: mistakes are computed from the labels and are not protected.</p>
{curve}
<p>{mistakes}</p>
<h2>The ledger</h2>
<pre>{ledger}</pre>
</html>
"""


def report(run: DurableRun, *, bound: float | None, floor: float | None) -> str:
    """The page, self-contained."""
    inner = run.run
    releases = [json.loads(release.body) for release in run.releases()]
    return PAGE.format(
        promise=html.escape(
            f"The {len(releases)} published rules together are differentially private with "
            f"{run.promise}, even if whoever reads them chooses the next example."
        ),
        warning="" if inner.private else '<p class="warn">NOT PRIVATE: this run was seeded.</p>',
        rule=html.escape(releases[-1]["rule"]),
        releases="".join(
            f"<tr><td>{r['release']}</td><td>{r['round'] + 1}</td>"
            f"<td>{html.escape(r['rule'])}</td></tr>"
            for r in releases[-200:]
        ),
        curve=_curve(run.curve(), bound, floor),
        mistakes=html.escape(_words(run, bound, floor)),
        ledger=html.escape(inner.ledger.text()),
    )


def _words(run: DurableRun, bound: float | None, floor: float | None) -> str:
    words = f"{run.mistakes} mistakes in {run.rounds} rounds."
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
    path = " ".join(
        f"{40 + (WIDTH - 50) * r / last:.1f},{HEIGHT - 25 - (HEIGHT - 40) * m / top:.1f}"
        for r, m in [(0, 0), *points]
    )
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
    y = HEIGHT - 25 - (HEIGHT - 40) * value / top
    return (
        f'<line x1="40" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#999" '
        f'stroke-dasharray="5 4"/><text x="44" y="{y - 4:.1f}" font-size="12">{name}</text>'
    )
