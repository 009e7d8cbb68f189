"""Write the table of docs/practice.md and draw its picture from docs/practice.json.

    python -m docs.tools.practice

``python -m benchmarks real drift tables`` measures and writes that file.
"""

import json
from pathlib import Path
from typing import Any

from docs.tools.measure import markdown_table, with_tables

DOCS = Path(__file__).parents[1]
KEPT = DOCS / "practice.json"
PAGE = DOCS / "practice.md"
PICTURE = DOCS / "images" / "practice.svg"

NAMES = {
    "flights": "flights",
    "flights-no-delay": "flights without departure delay",
    "bananas": "bananas",
    "segments": "segments",
    "digits>=5": "digits ≥ 5",
    "digits=0": "digits = 0",
    "phishing": "phishing",
    "breast": "breast cancer",
    "changed": "simulated, rule exchanged half-way",
}
OPEN_PEERS = ("River LogisticRegression", "River HoeffdingTree")
PRIVATE_PEERS = ("DP-FTRL, Toeplitz", "DP-FTRL, tree", "DP-SGD")
DRAWN = ("flights", "flights-no-delay", "bananas", "breast", "segments", "changed")


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Each table by the name of its place in the page."""
    streams = kept["streams"]
    return (
        {
            f"practice-{epsilon}": markdown_table(
                ("stream (rounds)", "constant", *OPEN_PEERS, *PRIVATE_PEERS, "ours"),
                [_row(title, streams[name], epsilon) for name, title in NAMES.items()],
            )
            for epsilon in kept["compared"]
        }
        | {f"practice-watch-{epsilon}": _watch(rows) for epsilon, rows in kept["simulated"].items()}
        | {
            "practice-compared": _compared({"": kept["compared"]}),
            "practice-linear": _linear(streams),
            "practice-tables-compared": _compared(
                {group: found["compared"] for group, found in kept["tables"].items()}
            ),
        }
        | {
            f"practice-tables-{group.replace(' ', '-')}": _tables(found["streams"])
            for group, found in kept["tables"].items()
        }
    )


def _row(title: str, entry: dict[str, Any], epsilon: str) -> tuple[str, ...]:
    ours = entry[f"ours {epsilon}"]
    private = [entry[f"{peer} {epsilon}"]["error"] for peer in PRIVATE_PEERS]
    best = min(ours["error"], *private)
    return (
        f"{title} ({entry['rounds']:,})",
        _share(entry["constant"]),
        *(_share(entry[peer]["error"]) for peer in OPEN_PEERS),
        *(_bold_if(error == best, _share(error)) for error in private),
        f"{_bold_if(ours['error'] == best, _share(ours['error']))} ± {_share(ours['spread'])}",
    )


def _compared(groups: dict[str, Any]) -> str:
    return markdown_table(
        (
            "ε",
            "better than DP-FTRL with settings in hindsight",
            "more than 1.15 times its error",
            "better than with one setting",
            "which",
        ),
        [
            (
                f"{epsilon}, {group}" if group else epsilon,
                f"{found['better in hindsight']} of {found['streams']}",
                f"{found['beyond']}",
                f"{found['better than one setting']} of {found['streams']}",
                found["setting"],
            )
            for group, compared in groups.items()
            for epsilon, found in compared.items()
        ],
    )


def _tables(streams: dict[str, Any]) -> str:
    """Beside each other DP-FTRL in hindsight and ours, the better one bold."""
    return markdown_table(
        (
            "table (rounds, fields)",
            "constant",
            "DP-FTRL, ε = 1",
            "ours",
            "DP-FTRL, ε = 0.1",
            "ours",
        ),
        [
            (
                f"{name} ({entry['rounds']:,}, {entry['fields']})",
                _share(entry["constant"]),
                *(
                    _bold_if(error == min(pair), _share(error))
                    for pair in (
                        (entry[f"DP-FTRL, Toeplitz {epsilon}"], entry[f"ours {epsilon}"])
                        for epsilon in ("1", "0.1")
                    )
                    for error in pair
                ),
            )
            for name, entry in streams.items()
        ],
    )


def _watch(simulated: dict[str, Any]) -> str:
    kinds = ("watch", "not planned", "windows alone", "batches alone", "constant")
    return markdown_table(
        ("simulated stream", *kinds),
        [(row["what"], *(_share(row[kind]) for kind in kinds)) for row in simulated.values()],
    )


def _linear(streams: dict[str, Any]) -> str:
    return markdown_table(
        ("stream", "DP-FTRL in hindsight, ε = 1", "`PrivateLinear`, ε = 1", "ε = 0.1"),
        [
            (
                title,
                _share(streams[name]["DP-FTRL, Toeplitz 1"]["error"]),
                *(_with_spread(streams[name][f"linear {epsilon}"]) for epsilon in ("1", "0.1")),
            )
            for name, title in NAMES.items()
        ],
    )


def _with_spread(found: dict[str, Any]) -> str:
    return f"{_share(found['error'])} ± {_share(found['spread'])}"


def _share(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _bold_if(best: bool, text: str) -> str:
    return f"**{text}**" if best else text


def draw(kept: dict[str, Any]) -> None:
    """The share of mistakes so far, ours and the peers', at ε = 1."""
    import matplotlib  # noqa: PLC0415  # only for the picture
    from matplotlib.figure import Figure  # noqa: PLC0415

    matplotlib.rcParams["svg.hashsalt"] = "littlestone"
    figure = Figure(figsize=(11, 6), layout="constrained")
    grid: Any = figure.subplots(2, 3)
    lines = [("ours 1", "ours", {"color": "black", "linewidth": 2})]
    lines += [(f"{peer} 1", peer, {"linewidth": 1}) for peer in PRIVATE_PEERS]
    lines += [(peer, f"{peer}, not private", {"linewidth": 1, "ls": ":"}) for peer in OPEN_PEERS]
    for name, axes in zip(DRAWN, grid.flat, strict=True):
        entry = kept["streams"][name]
        for key, label, style in lines:
            shares = entry[key]["curve"]
            rounds = [entry["rounds"] * (number + 1) / len(shares) for number in range(len(shares))]
            axes.plot(rounds, shares, label=label, **style)
        axes.axhline(entry["constant"], color="lightgrey", label="constant", zorder=0)
        axes.set_ylim(0, min(0.6, 1.6 * entry["constant"]))
        axes.set_title(NAMES[name], fontsize="small")
    grid.flat[0].legend(fontsize="x-small")
    figure.supxlabel("rounds")
    figure.supylabel("share of mistakes so far, ε = 1")
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), tables(kept)), "utf-8")
    draw(kept)


if __name__ == "__main__":
    main()
