"""Games are drawn here; this needs the ``plot`` extra."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

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


def cumulative_mistakes(games: Mapping[str, Transcript], path: Path) -> None:
    """Mistakes so far against the round, one line a game, both axes logarithmic."""
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    for name, transcript in games.items():
        rounds, mistakes = zip(*transcript.curve, strict=True)
        axes.plot(rounds, mistakes, label=name, drawstyle="steps-post")
    _save(figure, axes, path)


def spread_of_mistakes(name: str, games: Sequence[Transcript], path: Path) -> None:
    """Mistakes so far in many games of equal length: the median, and where nine in ten lie."""
    rounds = [number for number, _ in games[0].curve]
    mistakes = np.array([[count for _, count in game.curve] for game in games])
    low, middle, high = np.quantile(mistakes, (0.05, 0.5, 0.95), axis=0, method="inverted_cdf")
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    axes.plot(rounds, middle, label=f"{name}: median of {len(games)} games")
    axes.fill_between(rounds, low, high, alpha=0.25, label="5–95 %")
    _save(figure, axes, path)


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.set(xlabel="round", ylabel="mistakes so far", xscale="log", yscale="symlog")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    figure.savefig(path)
    pyplot.close(figure)
