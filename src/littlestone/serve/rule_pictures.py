"""A published rule as people see it: a number line, a tree of questions, or a list of keys."""

from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import Any, Final

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.runs import InRuns, runs_of
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Domain, Hypothesis

WIDTH: Final = 640
MOST_KEYS: Final = 500
MOST_STRETCHES: Final = 400
MOST_POINTS: Final = 1 << 16  # to visit one by one


def picture(hypothesis: Hypothesis, domain: Domain) -> str:
    """HTML that shows the rule; nothing where words say it all."""
    if isinstance(hypothesis, DecisionTree):
        return f"<pre>{escape(hypothesis.text())}</pre>"
    if isinstance(domain, IntegerRange):
        return _line(hypothesis, domain.size)
    return _keys(hypothesis.sorted_positives()) if isinstance(hypothesis, FiniteSupport) else ""


def _keys(keys: Sequence[Any]) -> str:
    shown = "".join(f"<li>{escape(str(key))}</li>" for key in keys[:MOST_KEYS])
    more = f"<p>and {len(keys) - MOST_KEYS:,} more</p>" if len(keys) > MOST_KEYS else ""
    return f'<ul class="keys">{shown}</ul>{more}' if keys else "<p>The list is empty.</p>"


def _line(hypothesis: Hypothesis, size: int) -> str:
    """Where the rule says 1, from the smallest point to the largest."""
    if not isinstance(hypothesis, InRuns) and size > MOST_POINTS:
        return ""
    stretches = list(islice(runs_of(hypothesis, size), MOST_STRETCHES + 1))
    if len(stretches) > MOST_STRETCHES:
        return ""
    parts = "".join(
        f'<rect class="{"ones" if label else "zeros"}" x="{WIDTH * start / size:.2f}" y="8" '
        f'width="{WIDTH * (stop - start) / size:.2f}" height="22"><title>'
        f"{label} from {start} to {stop - 1}</title></rect>"
        for start, stop, label in stretches
    )
    words = ", ".join(f"{start} to {stop - 1}" for start, stop, label in stretches if label)
    return (
        f'<svg viewBox="0 0 {WIDTH} 50" role="img" aria-label="1 on {words or "nothing"}">{parts}'
        f'<text x="0" y="46">0</text><text x="{WIDTH}" y="46" text-anchor="end">{size - 1:,}</text>'
        f"</svg>"
    )
