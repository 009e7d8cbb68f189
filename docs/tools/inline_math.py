"""Typeset the indices and exponents of running text: ``e^(−α)`` and ``x_{k+1}`` as HTML."""

import re

# What is not running text: fences, code, HTML, directives, headings and the targets of links.
APART = re.compile(
    r"(^ *```.*?^ *```$|^ *::: .*?$|^#.*?$|`+[^`]*`+"
    r"|<div class=\"formula\">.*?</div>|</?[a-zA-Z!][^>\n]*>|\]\([^)]*\))",
    re.MULTILINE | re.DOTALL,
)
# A single letter with any index, or an operator with a short one; other names are code.
INDEXED = re.compile(
    r"(?<![^\W\d_])(?<![_.])([^\W\d_][\u0300-\u036f]*′*|(?:min|max|sup|inf|log|err)(?=_(?:\w\b|\{)))_"
)
RAISED = re.compile(r"(?<=[\w)\]}′*>|⌉⌋])\^")
INDEX = re.compile(r"[^\W_]+′*|\\?\*")
EXPONENT = re.compile(
    r"[OΩΘ]\([^()]*\)|[−+-]?(?:[^\W\d_]_[^\W_]+|\d+(?:\.\d+)?|[^\W_]+)′*|\|\w\||\\?\*"
)
LESS = re.compile(r"<(?!/?su[bp]>)")
CLOSING = {"(": ")", "{": "}"}


def typeset(markdown: str) -> str:
    """Return the page with indices as ``<sub>`` and exponents as ``<sup>``, code left alone.

    >>> typeset("e^(−ατ)·x_{k+1} ≤ h_t(x_t), `e^x` and max_contributions")
    'e<sup>−ατ</sup>·x<sub>k+1</sub> ≤ h<sub>t</sub>(x<sub>t</sub>), `e^x` and max_contributions'
    """
    parts = APART.split(markdown)
    return "".join(part if number % 2 else _typeset(part) for number, part in enumerate(parts))


def _typeset(text: str) -> str:
    raised = _replace(text, RAISED, EXPONENT, "sup", "({")
    return _replace(raised, INDEXED, INDEX, "sub", "({")


def _replace(
    text: str, mark: re.Pattern[str], token: re.Pattern[str], tag: str, brackets: str
) -> str:
    """Replace each mark and what it applies to; a group loses its brackets."""
    written, at = [], 0
    while (found := mark.search(text, at)) is not None:
        start = found.end()
        end = _end_of_group(text, start) if text[start : start + 1] in tuple(brackets) else None
        inner = text[start + 1 : end - 1] if end else None
        if end is None and (plain := token.match(text, start)) is not None:
            end, inner = plain.end(), plain[0]
        written.append(text[at : found.start()] + (found[1] if mark.groups else ""))
        if end is None or inner is None:
            written.append(text[found.end() - 1 : found.end()])
            at = found.end()
        else:
            written.append(f"<{tag}>{LESS.sub('&lt;', _typeset(inner))}</{tag}>")
            at = end
    return "".join(written) + text[at:]


def _end_of_group(text: str, start: int) -> int | None:
    """Return where the bracketed group ends; None if it does not end in this paragraph."""
    opening, depth = text[start], 0
    for place in range(start, len(text)):
        if text.startswith("\n\n", place):
            return None
        depth += (text[place] == opening) - (text[place] == CLOSING[opening])
        if not depth:
            return place + 1
    return None
