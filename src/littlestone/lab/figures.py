"""Draw claims and write them as one self-contained page; needs the ``plot`` extra."""

import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from littlestone.lab.claim import Outcome, Picture

matplotlib.rcParams["svg.hashsalt"] = "littlestone"  # the same run gives the same bytes

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>littlestone: claims</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
        padding: 0 1rem; color: #222; }}
section {{ border-top: 1px solid #ccc; padding: 1rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
th, td {{ border: 1px solid #ddd; padding: .2rem .5rem; text-align: right; }}
.verdict {{ font-weight: bold; }} .refuted {{ color: #b00; }} .confirmed {{ color: #070; }}
svg {{ max-width: 100%; height: auto; }}
</style>
<h1>What was claimed, and what was measured</h1>
{sections}
</html>
"""


def draw(picture: Picture) -> Figure:
    """Return one picture as a figure."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for series in picture.series:
        axes.plot(series.xs, series.ys, series.style, label=series.name, markersize=4)
    axes.set(
        title=picture.title,
        xlabel=picture.x_label,
        ylabel=picture.y_label,
        xscale=picture.x_scale,
        yscale=picture.y_scale,
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


def write(outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Write every picture as SVG and PNG, and one HTML page with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = []
    for outcome in outcomes:
        drawings = []
        for number, picture in enumerate(outcome.finding.pictures, start=1):
            figure = draw(picture)
            stem = folder / f"{outcome.claim.name}-{number}"
            figure.savefig(stem.with_suffix(".png"), dpi=150)
            figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
            drawings.append(_svg(figure))
        sections.append(_section(outcome, drawings))
    page = folder / "index.html"
    page.write_text(PAGE.format(sections="\n".join(sections)), encoding="utf-8")
    return page


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()[buffer.getvalue().index("<svg") :]


def _section(outcome: Outcome, drawings: Sequence[str]) -> str:
    claim, finding = outcome.claim, outcome.finding
    verdict = html.escape(str(finding.verdict))
    size = "full" if outcome.full else "quick"
    return (
        f"<section><h2>{html.escape(claim.name)}</h2>"
        f"<p><b>Says</b> ({html.escape(claim.source)}): {html.escape(claim.says)}<br>"
        f"<b>Setting:</b> {html.escape(claim.setting)}<br>"
        f"<b>Judged:</b> {html.escape(claim.judged)}</p>"
        f'<p class="verdict {verdict.split()[0]}">{verdict}: {html.escape(finding.summary)}</p>'
        f"{_table(finding.rows)}{''.join(drawings)}"
        f"<p>{size} size, seed {outcome.seed}, {outcome.seconds:.1f} s</p></section>"
    )


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    records = [dict(row) for row in rows]
    if not records:
        return ""
    head = "".join(f"<th>{html.escape(str(key))}</th>" for key in records[0])
    body = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(_text(value))}</td>" for value in row.values())
        + "</tr>"
        for row in records
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
