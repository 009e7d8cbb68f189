"""Examine the claims at quick size and write their gallery: docs/claims.md and its pictures.

    python docs/tools/gallery.py                    every claim, a few minutes
    python docs/tools/gallery.py coupon-collector   some claims; the others stay as they are

Kept are the summaries (docs/claims.json) and the pictures. A test compares the page with them, and
them with the registry of claims.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from littlestone.lab.claim import Outcome, examine
from littlestone.lab.every_claim import CLAIMS
from littlestone.lab.figures import draw

DOCS = Path(__file__).parents[1]
SUMMARIES = DOCS / "claims.json"
PAGE = DOCS / "claims.md"
PICTURES = DOCS / "images" / "claims"
SEED = 1

HEAD = """# Claims

<!-- written by docs/tools/gallery.py from docs/claims.json -->

A claim is a statement of the paper, or of those it builds on, turned into something that a run can contradict. Below is what one run at quick size found. `make claims` runs all of them at full size.

- *confirmed*: the statement is exact, and every case agreed.
- *not refuted*: the run could have contradicted it, and did not. A curve never confirms an asymptotic statement.
- *refuted*: the run contradicts it. `littlestone claims` then ends with exit status 1. That happens to a true statement with probability 10⁻⁹ at most; fits are reported and never judged.

```console
$ littlestone claims littlestone-mistakes --json
[{"claim": "littlestone-mistakes", ..."verdict": "confirmed"...}]
```
"""  # noqa: E501


def summary(outcome: Outcome) -> dict[str, Any]:
    """What is kept of an outcome: everything but the rows and the time."""
    kept = {
        key: value for key, value in outcome.to_json().items() if key not in ("rows", "seconds")
    }
    pictures = [
        {"file": f"{outcome.claim.name}-{number}.svg", "title": picture.title}
        for number, picture in enumerate(outcome.finding.pictures, start=1)
    ]
    return {**kept, "pictures": pictures}


def draw_all(outcome: Outcome) -> None:
    """Write every picture of a claim as SVG."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for number, picture in enumerate(outcome.finding.pictures, start=1):
        path = PICTURES / f"{outcome.claim.name}-{number}.svg"
        draw(picture).savefig(path, metadata={"Date": None})


def page(summaries: list[dict[str, Any]]) -> str:
    """The gallery as Markdown: a table of all verdicts, then one section for each claim."""
    lines = [HEAD, "| claim | verdict | measured |", "| --- | --- | --- |"]
    for entry in summaries:
        lines.append(
            f"| [{entry['claim']}](#{entry['claim']}) | {entry['verdict']} | {entry['summary']} |"
        )
    return "\n".join([*lines, *map(_section, summaries)])


def _section(entry: dict[str, Any]) -> str:
    pictures = "".join(
        f"\n![{picture['title']}](images/claims/{picture['file']})\n"
        for picture in entry["pictures"]
    )
    return f"""
## {entry["claim"]}

{entry["says"]} — {entry["source"]}

- *Setting:* {entry["setting"]}
- *Judged:* {entry["judged"]}
- *Verdict:* **{entry["verdict"]}**: {entry["summary"]} ({entry["size"]} size, seed {entry["seed"]})
{pictures}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="claims; all by default")
    asked = parser.parse_args()
    known = json.loads(SUMMARIES.read_text("utf-8")) if SUMMARIES.exists() else []
    kept = {entry["claim"]: entry for entry in known}
    for name in asked.names or CLAIMS:
        outcome = examine(CLAIMS[name], seed=SEED)
        sys.stderr.write(f"{name}: {outcome.finding.verdict}, {outcome.seconds:.1f} s\n")
        kept[name] = summary(outcome)
        draw_all(outcome)
    summaries = [kept[name] for name in CLAIMS if name in kept]
    SUMMARIES.write_text(json.dumps(summaries, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(summaries), "utf-8")
    wanted = {picture["file"] for entry in summaries for picture in entry["pictures"]}
    for path in PICTURES.glob("*.svg"):
        if path.name not in wanted:
            path.unlink()


if __name__ == "__main__":
    main()
