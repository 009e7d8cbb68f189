"""A private blocklist: who is reported often enough is listed, and whoever is listed moves on.

Senders are as active as words are frequent in a real text, the manual that Python brings along
(``pydoc_data.topics``: 64,000 words in their order, 3,000 different ones). One sender of twelve is
abusive. Every message of theirs is reported; one in five hundred of the others' is as well, by
mistake. An abusive sender who sees itself on the list continues under a new name, after the time
that changing it takes. The list is published after every message, and readers cannot tell
from it who reported what.

    python examples/private_blocklist.py                      a few seconds
    python examples/private_blocklist.py --plot blocklist.svg
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pydoc_data.topics import topics
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import littlestone as ls

EPSILON, DELTA = 1.0, 1e-6
DAYS = 16
FALSE_REPORTS = 1 / 500
NEW_NAME_AFTER = 40  # messages of a sender that is on the list
LISTED_AFTER = 5  # without privacy: more reports than mistakes explain


def words() -> list[str]:
    """The stream of senders."""
    return re.findall(r"[a-z]+", " ".join(topics[name] for name in sorted(topics)).lower())


def abusive_among(senders: list[str]) -> frozenset[str]:
    """Every twelfth sender by activity, the most active ones left out."""
    return frozenset(word for word, _ in Counter(senders).most_common()[6::12])


@dataclass
class Outcome:
    """What happened under one list."""

    passed: int = 0
    """Abusive messages that were not on the list when they came."""
    names: dict[str, int] = field(default_factory=dict)
    """Every abusive name that was listed, with the reports it took."""
    wrong: set[str] = field(default_factory=set)
    """Others that were listed at any time."""
    listed: list[int] = field(default_factory=list)
    """How many were on the list, after each message."""


List = tuple[Callable[[str, int], None], Callable[[], frozenset[Any]]]
"""Takes an event; tells the list."""


def private(rounds: int) -> List:
    run = ls.PrivateKeys(rounds=rounds, epsilon=EPSILON, delta=DELTA).start()
    return run.observe, lambda: run.hypothesis.positives  # type: ignore[attr-defined]


def every_day(rounds: int) -> List:
    """A stability histogram of each day's reports: disjoint days, so each has the whole budget."""
    histogram = ls.mechanisms.PrivateHistogram(epsilon=EPSILON, delta=DELTA)
    rng, reports, listed, seen = ls.secure(), Counter[str](), set[str](), [0]

    def observe(sender: str, reported: int) -> None:
        reports.update([sender] * reported)
        seen[0] += 1
        if seen[0] % (rounds // DAYS) == 0:
            listed.update(histogram.release(reports, rng=rng))
            reports.clear()

    return observe, lambda: frozenset(listed)


def not_private(rounds: int) -> List:
    reports, listed = Counter[str](), set[str]()

    def observe(sender: str, reported: int) -> None:
        reports.update([sender] * reported)
        if reports[sender] == LISTED_AFTER:
            listed.add(sender)

    return observe, lambda: frozenset(listed)


def play(make: Callable[[int], List], senders: list[str], seed: int) -> Outcome:
    """The same senders and mistakes for every list; names change when they are listed."""
    observe, listed = make(len(senders))
    bad, outcome = abusive_among(senders), Outcome()
    mistaken = np.random.default_rng(seed).random(len(senders)) < FALSE_REPORTS
    moves, stopped, reports = Counter[str](), Counter[str](), Counter[str]()
    known: frozenset[Any] = frozenset()
    for sender, by_mistake in zip(senders, mistaken.tolist(), strict=True):
        abusive = sender in bad
        name = f"{sender}#{moves[sender]}" if abusive else sender
        reported = int(abusive or by_mistake)
        outcome.passed += abusive and name not in known
        reports[name] += reported
        observe(name, reported)
        known = listed()
        if name in known and abusive:
            outcome.names.setdefault(name, reports[name])
            stopped[sender] += 1
            if stopped[sender] % NEW_NAME_AFTER == 0:
                moves[sender] += 1
        elif name in known:
            outcome.wrong.add(name)
        outcome.listed.append(len(known))
    return outcome


LISTS = {
    f"PrivateKeys, ε = {EPSILON:g}, δ = {DELTA:g}": private,
    f"a private histogram of each of {DAYS} days, same budget": every_day,
    f"not private: listed at {LISTED_AFTER} reports": not_private,
}


def draw(outcomes: dict[str, Outcome], path: str) -> None:
    """Lists over time, and how many reports each name took."""
    matplotlib.rcParams["svg.hashsalt"] = "littlestone"
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, outcome in outcomes.items():
        left.plot(outcome.listed, label=name)
        right.plot(sorted(outcome.names.values()))
    left.set(xlabel="messages", ylabel="names on the list")
    right.set(xlabel="listed names, in order", ylabel="reports until listed")
    left.legend(fontsize="x-small")
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--seed", type=int, default=1, help="of the mistaken reports")
    asked = parser.parse_args()
    senders = words()
    sent = sum(map(abusive_among(senders).__contains__, senders))
    print(f"{len(senders):,} messages of {len(set(senders)):,} senders; {sent:,} are abusive")
    outcomes = {name: play(make, senders, asked.seed) for name, make in LISTS.items()}
    for name, outcome in outcomes.items():
        mean = sum(outcome.names.values()) / max(1, len(outcome.names))
        print(
            f"{name}: {outcome.passed:,} passed, {len(outcome.names)} names listed after "
            f"{mean:.0f} reports each, {len(outcome.wrong)} listed by mistake"
        )
    if asked.plot:
        draw(outcomes, asked.plot)


if __name__ == "__main__":
    main()
