"""Draw a published rule: a tree of questions, a number line, a list of keys."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any, Final, Protocol, runtime_checkable

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import InRuns, runs_of
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.concepts.schema import Schema

WIDTH: Final = 640
MOST_KEYS: Final = 500
MOST_STRETCHES: Final = 400
MOST_POINTS: Final = 1 << 16  # visited one by one
_COLUMN: Final = 250
_ROW: Final = 40
_BOX: Final = (190, 28)
_LONGEST: Final = 28  # characters of a question; its title has the full text
_STYLE: Final = (
    'xmlns="http://www.w3.org/2000/svg" role="img" font-family="system-ui, sans-serif" '
    'font-size="13" fill="currentColor"'
)


@dataclass(frozen=True, slots=True)
class _Box:
    """A placed node and its children."""

    x: int
    y: float
    words: str
    children: "tuple[_Box, ...]" = ()

    @property
    def right(self) -> float:
        return max([self.x + _BOX[0], *(child.right for child in self.children)])


def tree_svg(root: Any, schema: Schema) -> str:
    """Draw the tree as standalone SVG in the colour of the surrounding page.

    >>> schema = Schema.from_mapping({"delay": {"grid": [0, 15]}})
    >>> picture = tree_svg(((0, 2, 2), 1, 0), schema)
    >>> picture.count("<rect"), "delay &gt;= 15" in picture
    (3, True)
    """
    rows = iter(range(1 << 20))
    top = _placed(root, schema, 0, rows)
    width, height = top.right + 1, next(rows) * _ROW
    drawn = "".join(_drawn(top))
    words = escape(_words(root, schema))
    return (
        f'<svg viewBox="-1 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" {_STYLE} '
        f'aria-label="{words}">{drawn}</svg>'
    )


def _placed(node: Any, schema: Schema, depth: int, rows: Iterator[int]) -> _Box:
    if not isinstance(node, tuple):
        return _Box(depth * _COLUMN, (next(rows) + 0.5) * _ROW, str(schema.label_values[node]))
    (number, low, high), holds, fails = node
    children = tuple(_placed(child, schema, depth + 1, rows) for child in (holds, fails))
    middle = (children[0].y + children[1].y) / 2
    return _Box(depth * _COLUMN, middle, schema.fields[number].describe(low, high), children)


def _drawn(box: _Box) -> Iterator[str]:
    width, height = _BOX if box.children else (30, _BOX[1])
    short = box.words if len(box.words) <= _LONGEST else f"{box.words[: _LONGEST - 1]}…"
    yield (
        f'<g><title>{escape(box.words)}</title><rect x="{box.x}" y="{box.y - height / 2:.0f}" '
        f'width="{width}" height="{height}" rx="6" fill="none" stroke="currentColor" '
        f'stroke-opacity="{0.4 if box.children else 1}"/><text x="{box.x + width / 2:.0f}" '
        f'y="{box.y + 5:.0f}" text-anchor="middle">{escape(short)}</text></g>'
    )
    for answer, child in zip(("yes", "no"), box.children, strict=False):
        start = box.x + width
        yield (
            f'<path d="M{start} {box.y:.0f} C{start + 30} {box.y:.0f} {child.x - 30} {child.y:.0f} '
            f'{child.x} {child.y:.0f}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
            f'<text x="{child.x - 4}" y="{child.y - 5:.0f}" text-anchor="end" font-size="11" '
            f'fill-opacity="0.7">{answer}</text>'
        )
        yield from _drawn(child)


def _words(node: Any, schema: Schema) -> str:
    if not isinstance(node, tuple):
        return str(node)
    (number, low, high), holds, fails = node
    question = schema.fields[number].describe(low, high)
    return f"if {question}: {_words(holds, schema)}; else: {_words(fails, schema)}"


@runtime_checkable
class Drawn(Protocol):
    """A hypothesis that has its own picture."""

    def svg(self) -> str:
        """Return the picture as SVG."""


def picture(hypothesis: Hypothesis, domain: Domain) -> str:
    """Return HTML that shows the rule; empty if words are enough."""
    if isinstance(hypothesis, Drawn):
        return f'<div class="scroll">{hypothesis.svg()}</div>'
    if isinstance(domain, IntegerRange):
        return _line(hypothesis, domain.size)
    if isinstance(hypothesis, FiniteSupport):
        return _keys(hypothesis.sorted_positives())
    text = getattr(hypothesis, "text", hypothesis.describe)()
    return "" if text == hypothesis.describe() else f"<pre>{escape(text)}</pre>"


def _keys(keys: Sequence[Any]) -> str:
    shown = "".join(f"<li>{escape(str(key))}</li>" for key in keys[:MOST_KEYS])
    more = f"<p>and {len(keys) - MOST_KEYS:,} more</p>" if len(keys) > MOST_KEYS else ""
    return f'<ul class="keys">{shown}</ul>{more}' if keys else "<p>The list is empty.</p>"


def _line(hypothesis: Hypothesis, size: int) -> str:
    """Draw the ranges with label 1 on a number line."""
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
