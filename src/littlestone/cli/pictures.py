"""Draw games and bounds; needs the ``plot`` extra."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from littlestone.game.transcript import Transcript
from littlestone.lab.bound import BoundValue

matplotlib.use("Agg")

DRAWN = ("mistakes", "regret", "examples", "error")
STYLES = {"at most": "o-", "at least": "s--", "of order": ":"}


def one_story(
    private: Transcript,
    open_: Transcript,
    path: Path,
    *,
    title: str,
    bound: float | None,
    floor: float | None,
) -> None:
    """Draw mistakes against the round: a private learner between its bound and the floor.

    Beside it is an ``open_`` learner, without privacy, on the same class. The floor is what no
    private learner can do better than on average.
    """
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    last = private.curve[-1][0]
    lines = (
        ("this private learner", "C0", "-", private.curve),
        ("not private", "0.45", "-", open_.curve),
        ("its proved bound", "C0", "--", None if bound is None else [(1, bound), (last, bound)]),
        (
            "floor of all private learners",
            "C3",
            "--",
            None if floor is None else [(1, floor), (last, floor)],
        ),
    )
    for label, colour, style, curve in lines:
        if curve is not None:
            rounds, mistakes = zip(*curve, strict=True)
            axes.plot(rounds, mistakes, style, color=colour, drawstyle="steps-post")
            axes.annotate(
                f" {label}: {mistakes[-1]:,.0f}",
                (rounds[-1], mistakes[-1]),
                color=colour,
                va="center",
                annotation_clip=False,
            )
    axes.set_title(title, fontsize="medium")
    _save(figure, axes, path)


def draw_mistakes(name: str, games: Sequence[Transcript], path: Path) -> None:
    """Draw the mistakes of one game; of many games of equal length the median and 5–95 %."""
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    rounds = [number for number, _ in games[0].curve]
    mistakes = np.array([[count for _, count in game.curve] for game in games])
    low, middle, high = np.quantile(mistakes, (0.05, 0.5, 0.95), axis=0, method="inverted_cdf")
    what = name if len(games) == 1 else f"{name}: median of {len(games)} games, and 5–95 %"
    axes.plot(rounds, middle, drawstyle="steps-post")
    axes.fill_between(rounds, low, high, alpha=0.25)
    axes.set_title(what, fontsize="medium")
    _save(figure, axes, path)


def bounds_along(
    xs: Sequence[float], columns: Sequence[Sequence[BoundValue]], over: str, path: Path
) -> None:
    """Draw one panel per main quantity, with binary logarithms: the values exceed floats."""
    rows = list(zip(*columns, strict=True))
    drawn = {quantity: _moving(rows, quantity) for quantity in DRAWN}
    panels = {quantity: lines for quantity, lines in drawn.items() if lines}
    if not panels:
        raise ValueError(
            f"no bound on {', '.join(DRAWN)} in these groups depends on {over}; choose "
            f"another --over, or another group"
        )
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


def _moving(rows: Sequence[Sequence[BoundValue]], quantity: str) -> list[Sequence[BoundValue]]:
    """Return the rows about this quantity whose values are not all the same."""
    mine = [line for line in rows if line[0].bound.quantity.partition(",")[0] == quantity]
    return [line for line in mine if len({row.value for row in line if row.value is not None}) > 1]


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.set(xlabel="round", ylabel="mistakes so far", xscale="log", yscale="symlog")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    pyplot.close(figure)
