"""Whether Coq's law and Python's are equal, as fractions, on instances drawn at random.

`make bridge` runs this file, after `make prove`. A seed may be given; it is printed either way.
With `SHARE=20` only a twentieth of the instances is drawn, and every broken variant all the same.
"""

import fcntl
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

import instances
from controls import CONTROLS
from forest_instances import early_forest, first_frequent, lazy_forest, packed_forest
from middle_instances import forest_plan, middle_forest, middle_packed
from place_instances import fresh_majority, majority_plan, place_plan, witness_places
from writing import Instance

BUILD: Final = Path(__file__).resolve().parents[2] / "out" / "proofs"
LONGEST: Final = 100_000
"""Characters that Coq reads at once; it takes longer than in proportion."""
KINDS: Final[dict[Callable[[Random], Instance], int]] = {
    instances.count_above_threshold: 2000,
    instances.private_keys: 300,
    instances.private_witnesses: 400,
    witness_places: 120,
    place_plan: 100,
    fresh_majority: 200,
    majority_plan: 100,
    first_frequent: 300,
    instances.weight_table: 200,
    instances.exponential: 5600,
    instances.disjoint_batches: 150,
    instances.private_histogram: 1500,
    instances.laplace_count: 100,
    lazy_forest: 150,
    early_forest: 150,
    packed_forest: 40,
    middle_forest: 150,
    middle_packed: 30,
    forest_plan: 20,
}
# Instances of each broken variant. As measured, three of ten differ or more, but one of ten for the
# one named first, one of five for the next, a quarter for the next three, and every one of the last
# four: that all agree has a chance of about 1e-9.
TRIES: Final = dict.fromkeys(CONTROLS, 60) | {
    "keys-counters-kept": 200,
    "exponential-half-sensitivity": 120,
    "counts-not-reset": 80,
    "overlapping-instances": 80,
    "add-remove-for-replace": 80,
    "DisjointBatches keeps a batch": 30,
    "witnesses-noise-when-named": 2,
    "places-kept": 2,
    "forest-matched-in-order": 2,
    "forest-slots-by-true-count": 6,
}
HEADER: Final = """From Coq Require Import ZArith QArith NArith List.
From Littlestone Require Import Rational Instances ForestTwin EarlyTwin PackedTwin PlacesTwin.
Import ListNotations.
"""


def failing(lines: list[str], name: str) -> list[int]:
    """The numbers of the lines that Coq finds false."""
    joined = ";\n".join(lines)
    question = f"Definition all := [\n{joined}\n].\nEval vm_compute in failing 0 all.\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.v"
        file.write_text(HEADER + instances.definitions() + question, encoding="utf-8")
        command = ["coqc", "-Q", str(BUILD), "Littlestone", str(file)]
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
    found = re.search(r"=\s*\[?(.*?)\]?\s*:\s*list nat", done.stdout, re.DOTALL)
    if done.returncode or found is None:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return [int(each) for each in re.findall(r"\d+", found.group(1))]


def compared(made: list[Instance], name: str) -> list[Instance]:
    """Those on which the two laws differ."""
    chunks: list[list[Instance]] = [[]]
    for each in made:
        if sum(len(other.line) for other in chunks[-1]) > LONGEST:
            chunks.append([])
        chunks[-1].append(each)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda pair: [
                pair[1][i] for i in failing([each.line for each in pair[1]], f"{name}{pair[0]}")
            ],
            enumerate(chunks),
        )
        return [each for chunk in found for each in chunk]


def main() -> None:
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # a `make prove` of this worktree waits, and says so
        compare()


def compare() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    random, start = Random(seed), time.monotonic()
    share = int(os.environ.get("SHARE", "1"))
    made = [draw(random) for draw, count in KINDS.items() for _ in range(-(-count // share))]
    drawn = time.monotonic()
    differ = compared(made, "Bridge")
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
    sys.exit(bool(differ) | bool(missed(random)))


def missed(random: Random) -> list[str]:
    """The broken variants on which no law differs from Coq's."""
    made = {name: [draw(random) for _ in range(TRIES[name])] for name, draw in CONTROLS.items()}
    differ = compared([each for drawn in made.values() for each in drawn], "Control")
    caught = {name: sum(each in differ for each in drawn) for name, drawn in made.items()}
    for name, count in caught.items():
        print(f"broken: {name}: {count} of {TRIES[name]} instances differ")
    print(f"{sum(map(bool, caught.values()))} of {len(caught)} broken variants are caught")
    return [name for name, count in caught.items() if not count]


if __name__ == "__main__":
    main()
