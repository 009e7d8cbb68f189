"""What the tests of fleets feed them, and what must come out."""

import json
import os
import random  # noqa: TID251 (streams, no noise)
import time
from pathlib import Path

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.fleet.keyed import advance
from littlestone.runs.intake.readers import Columns
from littlestone.runs.published import release_line

RECIPE = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=2.0)
COLUMNS = Columns(label="large", feature="size", identity="shop")
SEQUENCE = "number"

Events = dict[str, list[tuple[int, int]]]


def some_events(keys: int, each: int, seed: int = 1) -> Events:
    """Labels that change their mind, so that much is released."""
    chance = random.Random(seed)
    return {
        f"key {n}": [
            (x := chance.randrange(64), int((x >= 20) != (chance.random() < 0.4)))
            for _ in range(each)
        ]
        for n in range(keys)
    }


def line_of(key: object, number: object, x: object, y: object) -> str:
    return json.dumps({"shop": key, "number": number, "size": x, "large": y})


def write(folder: Path, name: str, lines: list[str]) -> None:
    """Moved into the folder when it is whole, and younger than all: Spark goes by their ages."""
    newest = max((path.stat().st_mtime for path in folder.iterdir()), default=time.time() - 1000)
    (folder.parent / name).write_text("".join(f"{line}\n" for line in lines))
    os.utime(folder.parent / name, (newest + 1, newest + 1))
    (folder.parent / name).rename(folder / name)


def write_all(folder: Path, events: Events, *, files: int) -> None:
    """Some rounds of all keys in each file, in no order; some come a file or two too late."""
    chance = random.Random(files)
    parts: list[list[str]] = [[] for _ in range(files)]
    for key, examples in events.items():
        for at, example in enumerate(examples):
            late = chance.randrange(3) if chance.random() < 0.2 else 0
            file = min(at * files // len(examples) + late, files - 1)
            parts[file].append(line_of(key, at + 1, *example))
    for file, lines in enumerate(parts):
        chance.shuffle(lines)
        write(folder, f"{file:05}.jsonl", lines)


def expected(secret: bytes, events: Events) -> list[bytes]:
    """The lines of all releases, as one process computes them from each key at once; sorted."""
    published = list[bytes]()
    for key, examples in events.items():
        xs, ys = map(list, zip(*examples, strict=True))
        _, releases = advance(RECIPE, secret, key, None, range(1, len(xs) + 1), xs, ys)
        published += map(release_line, releases)
    return sorted(published)
