"""Games are drawn here; this needs the ``plot`` extra."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from littlestone.bounds.bound import Row
from littlestone.game.transcript import Transcript

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as missing:
    raise ValueError(
        "pictures need matplotlib: pip install 'littlestone[plot]', or leave out --plot"
    ) from missing


DRAWN = ("mistakes", "regret", "examples", "error")
STYLES = {"at most": "o-", "at least": "s--", "of order": ":"}


def cumulative_mistakes(
    games: Mapping[str, Transcript],
    path: Path,
    *,
    title: str | None = None,
    bounds: Mapping[str, float | None] | None = None,
) -> None:
    """Mistakes so far against the round, one line a game, both axes logarithmic.

    ``bounds`` are on the mistakes of a whole game, dashed in its colour.
    """
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    for name, transcript in games.items():
        rounds, mistakes = zip(*transcript.curve, strict=True)
        (line,) = axes.plot(rounds, mistakes, label=name, drawstyle="steps-post")
        bound = (bounds or {}).get(name)
        if bound is not None:
            colour = line.get_color()
            axes.axhline(bound, color=colour, linestyle="--", alpha=0.6, label=f"{name}: at most")
    if title is not None:
        axes.set_title(title, fontsize="medium")
    _save(figure, axes, path)


def draw_mistakes(name: str, games: Sequence[Transcript], path: Path) -> None:
    """Mistakes so far in one game; in many of equal length the median, and nine in ten."""
    if len(games) == 1:
        cumulative_mistakes({name: games[0]}, path)
        return
    rounds = [number for number, _ in games[0].curve]
    mistakes = np.array([[count for _, count in game.curve] for game in games])
    low, middle, high = np.quantile(mistakes, (0.05, 0.5, 0.95), axis=0, method="inverted_cdf")
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    axes.plot(rounds, middle, label=f"{name}: median of {len(games)} games")
    axes.fill_between(rounds, low, high, alpha=0.25, label="5–95 %")
    _save(figure, axes, path)


def bounds_along(
    xs: Sequence[float], columns: Sequence[Sequence[Row]], over: str, path: Path
) -> None:
    """One panel for each main quantity; heights are binary logarithms: floats end too soon."""
    rows = list(zip(*columns, strict=True))
    drawn = {quantity: _moving(rows, quantity) for quantity in DRAWN}
    panels = {quantity: lines for quantity, lines in drawn.items() if lines}
    if not panels:
        raise ValueError(f"no bound on {', '.join(DRAWN)} in these groups depends on {over}")
    figure, places = pyplot.subplots(
        len(panels), figsize=(9, 4.5 * len(panels)), layout="constrained", squeeze=False
    )
    for axes, (quantity, lines) in zip(places[:, 0], panels.items(), strict=True):
        for line in lines:
            heights = [np.nan if row.log2 is None else row.log2 for row in line]
            bound = line[0].bound
            axes.plot(xs, heights, STYLES[bound.side], label=f"{bound.name} ({bound.side})")
        axes.set(xlabel=over, ylabel=quantity, xscale="linear" if over == "dimension" else "log")
        axes.yaxis.set_major_formatter(lambda height, _: f"$2^{{{height:g}}}$")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)
    pyplot.close(figure)


def _moving(rows: Sequence[Sequence[Row]], quantity: str) -> list[Sequence[Row]]:
    """Those about this quantity whose values are not all the same."""
    mine = [line for line in rows if line[0].bound.quantity == quantity]
    return [line for line in mine if len({row.value for row in line if row.value is not None}) > 1]


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.set(xlabel="round", ylabel="mistakes so far", xscale="log", yscale="symlog")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    figure.savefig(path)
    pyplot.close(figure)
