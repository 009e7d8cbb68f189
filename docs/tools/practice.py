"""Write the tables of docs/practice.md, its numbers in all pages, and its picture.

    python -m docs.tools.practice

The source is docs/practice.json, which ``python -m benchmarks real drift tables clear`` writes.
"""

import json
from typing import Any

from docs.tools.written import DOCS, NUMBER, markdown_table, pages, with_numbers, with_tables

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
OPEN_PEERS = (
    "River LogisticRegression",
    "River HoeffdingTree",
    "River KNNClassifier",
    "River ARFClassifier",
)
DRAWN_PEERS = OPEN_PEERS[:2]
TOEPLITZ = "DP-FTRL, Toeplitz"
PRIVATE_PEERS = (TOEPLITZ, "DP-FTRL, tree", "DP-SGD")
LISTED = ("held out",)
SIMULATED = "changed"
DRAWN = ("flights", "flights-no-delay", "bananas", "breast", "segments", "changed")


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Each table by the name of its place in the page."""
    streams = kept["streams"]
    open_names = tuple(peer.removeprefix("River ") for peer in OPEN_PEERS)
    return (
        {
            "practice-1": markdown_table(
                ("stream (rounds)", "constant", *open_names, "DP-FTRL", "linear", "default"),
                [_row(title, streams[name], "1", OPEN_PEERS) for name, title in NAMES.items()],
            ),
            "practice-0.1": markdown_table(
                ("stream", "constant", "DP-FTRL", "linear", "default"),
                [_row(title, streams[name], "0.1", ()) for name, title in NAMES.items()],
            ),
            "practice-compared": _compared(
                {"eight streams": kept["compared"]}
                | {f"tables {group}": found["compared"] for group, found in kept["tables"].items()}
            ),
        }
        | {"practice-drift": _drift(kept["simulated"])}
        | {
            f"practice-tables-{group.replace(' ', '-')}": _tables(found["streams"])
            for group, found in kept["tables"].items()
            if group in LISTED
        }
    )


def numbers(kept: dict[str, Any]) -> dict[str, str]:
    """Each number that a sentence of any page may quote, by its name."""
    groups = [kept["compared"], *(found["compared"] for found in kept["tables"].values())]
    better = sum(group["1"]["better in hindsight"] for group in groups)
    of = sum(group["1"]["streams"] for group in groups)
    times = [
        entry["ours 1"]["error"] / min(entry[peer]["error"] for peer in OPEN_PEERS if peer in entry)
        for name, entry in kept["streams"].items()
        if name != SIMULATED
    ]
    flights = kept["streams"]["flights"]
    return {
        "better than DP-FTRL": f"{better} of {of}",
        "times River": f"{min(times):.1f} to {max(times):.1f}",
        "flights, ours": f"{_percent(flights['ours 1']['error'])} ± "
        f"{_percent(flights['ours 1']['spread'])}",
        "flights, runs": str(flights["ours 1"]["runs"]),
        **{f"first label {epsilon}": _saved(kept, epsilon) for epsilon in ("1", "0.1")},
        **{f"flights, {peer}": _percent(flights[peer]["error"]) for peer in DRAWN_PEERS},
    }


def _saved(kept: dict[str, Any], epsilon: str) -> str:
    """What the commoner label saves that is declared first, in per cent, over groups of tables."""
    saved = [100 * (1 - group[epsilon]) for group in kept["first label"].values()]
    return f"{min(saved):.1f} to {max(saved):.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _row(
    title: str, entry: dict[str, Any], epsilon: str, open_peers: tuple[str, ...]
) -> tuple[str, ...]:
    ours, linear = entry[f"ours {epsilon}"], entry[f"linear {epsilon}"]["error"]
    private = [entry[f"{PRIVATE_PEERS[0]} {epsilon}"]["error"], linear]
    best = min(ours["error"], *private)
    return (
        f"{title} ({entry['rounds']:,})" if open_peers else title,
        _share(entry["constant"]),
        *(_share(entry[peer]["error"]) if peer in entry else "–" for peer in open_peers),
        *(_bold_if(error == best, _share(error)) for error in private),
        f"{_bold_if(ours['error'] == best, _share(ours['error']))} ± {_share(ours['spread'])}",
    )


def _compared(groups: dict[str, Any]) -> str:
    return markdown_table(
        (
            "which",
            "ε",
            "default better than DP-FTRL in hindsight",
            "beyond 1.15 times its error",
            "linear better than DP-FTRL",
        ),
        [
            (
                group,
                epsilon,
                f"{found['better in hindsight']} of {found['streams']}",
                f"{found['beyond']}",
                f"{found['linear better']} of {found['streams']}",
            )
            for group, compared in groups.items()
            for epsilon, found in compared.items()
        ],
    )


def _tables(streams: dict[str, Any]) -> str:
    """At each epsilon the private learners beside one another, the best one bold."""
    learners = {"DP-FTRL": TOEPLITZ, "linear": "linear", "default": "ours"}
    return markdown_table(
        (
            "table (rounds, fields)",
            "constant",
            *(f"{title}, ε = {epsilon}" for epsilon in ("1", "0.1") for title in learners),
        ),
        [
            (
                f"{name} ({entry['rounds']:,}, {entry['fields']})",
                _share(entry["constant"]),
                *(
                    _bold_if(error == min(errors), _share(error))
                    for errors in (
                        [entry[f"{learner} {epsilon}"] for learner in learners.values()]
                        for epsilon in ("1", "0.1")
                    )
                    for error in errors
                ),
            )
            for name, entry in streams.items()
        ],
    )


def _drift(simulated: dict[str, Any]) -> str:
    """Both epsilons beside each other; with little epsilon batches are never longer with time."""
    much, little = simulated["1"], simulated["0.1"]
    kinds, few = ("default", "no vote", "no limit", "no longer with time"), ("default", "no limit")
    return markdown_table(
        (
            "simulated stream",
            *(f"{kind}, ε = 1" for kind in kinds),
            *(f"{kind}, ε = 0.1" for kind in few),
            "constant",
        ),
        [
            (
                row["what"],
                *(_share(row[kind]) for kind in kinds),
                *(_share(little[name][kind]) for kind in few),
                _share(row["constant"]),
            )
            for name, row in much.items()
        ],
    )


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
    lines += [(peer, f"{peer}, not private", {"linewidth": 1, "ls": ":"}) for peer in DRAWN_PEERS]
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
    for page in pages():
        text = with_tables(page.read_text("utf-8"), tables(kept))
        quoted = dict(NUMBER.findall(text))  # those of other sources stay as they are
        page.write_text(with_numbers(text, quoted | numbers(kept)), "utf-8")
    draw(kept)


if __name__ == "__main__":
    main()
