"""Numbers and tables as the pages write them, and the places in the pages that quote them."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1]
NUMBER = re.compile(r"<!-- number: (.+?) -->(.*?)<!-- /number -->")
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def nearest(value: float) -> str:
    return f"{value:,.0f}"


def power(number: float) -> str:
    """A power of ten, as one."""
    return "10" + str(round(math.log10(number))).translate(_RAISED)


def up(bound: float, digits: int = 0) -> str:
    """A bound from above."""
    return f"{math.ceil(bound * 10**digits) / 10**digits:,.{digits}f}"


def down(floor: float, digits: int = 0) -> str:
    """A bound from below."""
    return f"{math.floor(floor * 10**digits) / 10**digits:,.{digits}f}"


def with_error(mean: Sequence[float]) -> str:
    """A mean and its standard error."""
    return f"{mean[0]:,.1f} ± {mean[1]:.1f}"


def pages() -> list[Path]:
    """The pages that quote measurements."""
    every = [DOCS.parent / "README.md", *DOCS.rglob("*.md"), *(DOCS.parent / "paper").glob("*.md")]
    return [path for path in every if re.search("<!-- (measured|number):", path.read_text("utf-8"))]


def with_tables(page: str, named: Mapping[str, str]) -> str:
    """The page with every table between its two comments replaced."""
    for name, table in named.items():
        begin, end = f"<!-- measured: {name} -->", "<!-- /measured -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        page = pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", page)  # noqa: B023
    return page


def with_numbers(page: str, named: Mapping[str, str]) -> str:
    """The page with every quoted number replaced; KeyError if one has no source."""
    return NUMBER.sub(lambda f: f"<!-- number: {f[1]} -->{named[f[1]]}<!-- /number -->", page)
