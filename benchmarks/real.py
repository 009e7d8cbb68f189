"""Real streams: the default learner beside what a user would pick instead, in one run.

Ours is always the default learner of a ``Request``, nothing tuned; settings and seeds are fixed
below. What was measured is kept in docs/practice.json, from which docs/tools/practice.py draws the
table and the picture of docs/practice.md.

    python -m benchmarks real
    STREAMS=flights,breast KEEP=peers python -m benchmarks real     some streams; others as kept
"""

import os
from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.practice import kept as keeping
from benchmarks.practice import peers
from benchmarks.practice.comparing import (
    DELTA,
    EPSILONS,
    TOEPLITZ,
    WITHIN,
    Row,
    compared,
    compared_rows,
    constant,
    default,
    linear,
    measured,
)
from benchmarks.practice.private_linear import NOISES
from benchmarks.practice.real_streams import STREAMS
from benchmarks.practice.stream import Stream

TARGETS = {
    "flights": 0.1003,
    "flights-no-delay": 0.215,
    "bananas": 0.205,
    "segments": 0.13,
    "digits>=5": 0.30,
    "digits=0": 0.06,
    "phishing": 0.14,
    "breast": 0.14,
}
# Of short streams more: single runs differ by a tenth of their error.
RUNS, RUNS_OF_LONG, LONG = int(os.environ.get("RUNS", "100")), 20, 10_000
LINEAR_RUNS = {"flights": 3, "flights-no-delay": 3, "changed": 3}
MOST_SECONDS = 10  # at 100,000 rounds
CLEAR = 1.22


def measure() -> Iterator[Row]:
    """Measure stream by stream, keep what was measured, and compare at the end."""
    chosen = os.environ.get("STREAMS", ",".join(STREAMS)).split(",")
    kept = {"streams": {}, "compared": {}} | keeping.read()
    streams, peers_stay = kept["streams"], os.environ.get("KEEP") == "peers"
    for name in chosen:
        stream, before = STREAMS[name](), streams.get(name, {}) if peers_stay else {}
        entry = {"rounds": len(stream.labels), "constant": constant(stream)} | before
        yield from _peer_rows(stream, entry)
        for epsilon in EPSILONS:
            count = RUNS if len(stream.labels) <= LONG else min(RUNS, RUNS_OF_LONG)
            entry[f"ours {epsilon:g}"] = ours = measured(stream, default(stream, epsilon), count)
            yield _our_row(name, epsilon, ours, entry)
            if f"linear {epsilon:g}" not in entry:
                entry[f"linear {epsilon:g}"] = measured(
                    stream, linear(stream, epsilon), LINEAR_RUNS.get(name, RUNS_OF_LONG)
                )
            found = entry[f"linear {epsilon:g}"]
            told = f"{found['error']:.4f} ± {found['spread']:.4f}"
            yield f"{name}, ε = {epsilon:g}: PrivateLinear", told, "", None
        streams[name] = entry
        keeping.write(kept)
    for epsilon in EPSILONS:
        known = [streams[name] for name in TARGETS if f"ours {epsilon:g}" in streams.get(name, {})]
        kept["compared"][f"{epsilon:g}"] = found = compared(known, epsilon)
        yield from compared_rows(found, epsilon)
    keeping.write(kept)
    yield _in_the_clear([streams[name] for name in TARGETS if "ours 1" in streams.get(name, {})])


def _in_the_clear(entries: list[dict[str, Any]]) -> Row:
    """How far the default is from the best of River's learners in the median, at epsilon = 1."""
    ratios = [
        entry["ours 1"]["error"]
        / min(entry[peer]["error"] for peer in peers.RIVER if peer in entry)
        for entry in entries
    ]
    what = f"ε = 1: error relative to the best in the clear, median of {len(ratios)}"
    return what, f"{median(ratios):.2f}", f"≤ {CLEAR}", median(ratios) <= CLEAR


def _peer_rows(stream: Stream, entry: dict[str, Any]) -> Iterator[Row]:
    yield f"{stream.name}: constant", f"{entry['constant']:.4f}", "", None
    for peer in peers.RIVER:
        if peer in peers.SLOW and len(stream.labels) > LONG:
            continue
        if peer not in entry:
            entry[peer] = peers.river(stream, peer)
        yield f"{stream.name}: {peer}, not private", f"{entry[peer]['error']:.4f}", "", None
    for epsilon in EPSILONS:
        for peer in NOISES:
            key = f"{peer} {epsilon:g}"
            if key not in entry:
                entry[key] = peers.private_linear(stream, peer, epsilon=epsilon, delta=DELTA)
            found = entry[key]
            told = f"{found['error']:.4f} ({found['setting']})"
            yield f"{stream.name}, ε = {epsilon:g}: {peer}, in hindsight", told, "", None


def _our_row(name: str, epsilon: float, ours: dict[str, Any], entry: dict[str, Any]) -> Row:
    peer = entry[f"{TOEPLITZ} {epsilon:g}"]["error"]
    target = TARGETS.get(name, WITHIN * peer) if epsilon == 1.0 else WITHIN * peer
    spent = ours["seconds"] * 1e5 / max(1e5, entry["rounds"])
    return (
        f"{name}, ε = {epsilon:g}: the default",
        f"{ours['error']:.4f} ± {ours['spread']:.4f}, {ours['seconds']:.1f} s a run",
        f"≤ {target:.4f}, ≤ {MOST_SECONDS} s at 10⁵ rounds",
        ours["error"] <= target and spent <= MOST_SECONDS,
    )
