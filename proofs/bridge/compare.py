"""Whether Coq's law and Python's are equal, as fractions, on thousands of instances drawn at random.

`make bridge` runs this file, after `make prove`. A seed may be given; it is printed either way.
"""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

import instances
from instances import Instance

BUILD: Final = Path(__file__).resolve().parents[2] / "out" / "proofs"
CHUNK: Final = 400
KINDS: Final[dict[Callable[[Random], Instance], int]] = {
    instances.count_above_threshold: 2000,
    instances.private_keys: 300,
    instances.private_witnesses: 400,
    instances.weight_table: 200,
    instances.exponential: 5500,
    instances.disjoint_batches: 300,
    instances.private_histogram: 1500,
    instances.laplace_count: 100,
}
HEADER: Final = """From Coq Require Import ZArith QArith NArith List.
From Littlestone Require Import Rational Instances.
Import ListNotations.
"""


def failing(lines: list[str], name: str) -> list[int]:
    """The numbers of the lines that Coq finds false."""
    joined = ";\n".join(lines)
    question = f"Definition all := [\n{joined}\n].\nEval vm_compute in failing 0 all.\n"
    (BUILD / f"{name}.v").write_text(HEADER + instances.definitions() + question, encoding="utf-8")
    command = ["coqc", "-Q", ".", "Littlestone", f"{name}.v"]
    done = subprocess.run(command, cwd=BUILD, text=True, capture_output=True, check=False)
    found = re.search(r"=\s*\[?(.*?)\]?\s*:\s*list nat", done.stdout, re.DOTALL)
    if done.returncode or found is None:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return [int(each) for each in re.findall(r"\d+", found.group(1))]


def compared(made: list[Instance]) -> list[Instance]:
    """Those on which the two laws differ."""
    chunks = [made[i : i + CHUNK] for i in range(0, len(made), CHUNK)]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda pair: [pair[1][i] for i in failing([each.line for each in pair[1]], f"Bridge{pair[0]}")],
            enumerate(chunks),
        )
        return [each for chunk in found for each in chunk]


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    random, start = Random(seed), time.monotonic()
    made = [draw(random) for draw, count in KINDS.items() for _ in range(count)]
    drawn = time.monotonic()
    differ = compared(made)
    kinds, bad = Counter(each.kind for each in made), Counter(each.kind for each in differ)
    for kind, count in kinds.items():
        probabilities = sum(each.probabilities for each in made if each.kind == kind)
        print(f"{kind}: {count} instances, {probabilities} probabilities, {bad[kind]} differ")
    print(
        f"{len(made)} instances, {len(differ)} differ; Python {drawn - start:.0f} s, "
        f"Coq {time.monotonic() - drawn:.0f} s"
    )
    for each in differ[:3]:
        print(each.line)
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
