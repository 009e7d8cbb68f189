"""Pictures of games; needs the ``plot`` extra."""

from collections.abc import Mapping
from pathlib import Path

from littlestone.game.transcript import Transcript

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
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
    axes.set(xlabel="round", ylabel="mistakes so far", xscale="log", yscale="symlog")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    figure.savefig(path)
    pyplot.close(figure)
