"""The error of every sanitizer against the number of examples, as a table and as a picture.

python examples/sanitizer_errors.py                      a quick table
python examples/sanitizer_errors.py docs/images --full   the pictures of docs/SANITIZERS.md
"""

import sys
from pathlib import Path

from littlestone.lab.claim import examine
from littlestone.lab.claims.sanitizer_errors import (
    realizable_samples,
    sanitizers_compared,
)
from littlestone.lab.figures import draw

SEED = 20_26


def main(arguments: list[str]) -> None:
    """Measure, print, and draw into the folder that was named."""
    full = "--full" in arguments
    folders = [Path(argument) for argument in arguments if not argument.startswith("--")]
    for claim in (sanitizers_compared, realizable_samples):
        finding = examine(claim, seed=SEED, full=full).finding
        print(f"{claim.name}: {finding.verdict}: {finding.summary}")
        for row in finding.rows:
            numbers = {key: value for key, value in row.items() if not key.endswith(": kept")}
            print("  ", ", ".join(f"{key} {value:.4g}" for key, value in numbers.items()))
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            picture = folder / f"{claim.name}.svg"
            draw(finding.pictures[0]).savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1:])
