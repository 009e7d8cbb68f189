"""The steady rule beside the last one: mistakes of who takes either, and stays with it for a while.

At 80 moments, evenly spaced, both rules are taken and predict the next eighth of the stream: what
``predict`` and ``freeze()`` are for. A stream flips if a published rule came back. Also shown: the
moments in which the two rules differ; and, as a limit, the errors of one who knows in hindsight,
at each moment, which rule of the last half of the rounds errs least on what follows.
docs/theory/practice-log.md says how the numbers of the steady rule were chosen.

    RUNS=2 python -m benchmarks steady
"""

import os
from collections.abc import Iterator
from statistics import geometric_mean

import numpy as np
from benchmarks.practice.comparing import default
from benchmarks.practice.real_streams import STREAMS
from benchmarks.practice.simulated import SIMULATED, simulated
from benchmarks.practice.stream import Stream
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.weighted_vote import Releases
from littlestone.concepts.protocols import Hypothesis
from littlestone.randomness import seeded

Row = tuple[str, str, str, bool | None]
RUNS = int(os.environ.get("RUNS", "2"))
CHOSEN = os.environ.get("STREAMS", ",".join(STREAMS)).split(",")
FLIPS = 3
MOMENTS, PART = 80, 8
MOST, MOST_FLIPPING = 1.0, 0.95


def measure() -> Iterator[Row]:
    """Compare on real streams, then on simulated ones of other seeds than were chosen on."""
    yield from _compared("real", [(name, [STREAMS[name]()] * RUNS) for name in CHOSEN])
    if "STREAMS" not in os.environ:
        kinds = [(name, [simulated(name, seed) for seed in range(RUNS)]) for name in SIMULATED]
        yield from _compared("simulated", kinds)


def _compared(which: str, kinds: list[tuple[str, list[Stream]]]) -> Iterator[Row]:
    ratios, flipping, limits, limits_flipping = [], [], [], []
    for name, streams in kinds:
        pairs = [_played(one.shuffled(seed), seed) for seed, one in enumerate(streams)]
        last, steady, differ_last, differ_steady, best, flips = np.sum(pairs, axis=0)
        ratios.append(steady / last)
        limits.append(best / last)
        if flips >= FLIPS * len(pairs):
            flipping.append(steady / last)
            limits_flipping.append(best / last)
        where = f"{differ_steady / differ_last:.3f}" if differ_last else "–"
        told = f"{steady / last:.4f}, where they differ {where}, {flips / len(pairs):.0f} flips"
        yield f"{which}, {name}: steady / last", told, "", None
    mean, best = geometric_mean(ratios), geometric_mean(limits)
    told = f"{mean:.4f}, in hindsight {best:.3f}"
    yield f"{which}: mean", told, f"≤ {MOST:.2f}", round(mean, 4) <= MOST
    if flipping:
        mean, best = geometric_mean(flipping), geometric_mean(limits_flipping)
        told = f"{mean:.4f}, in hindsight {best:.3f}"
        limit = f"≤ {MOST_FLIPPING:.2f}"
        yield f"{which}: mean of flipping", told, limit, mean <= MOST_FLIPPING


def _played(stream: Stream, seed: int) -> tuple[int, int, int, int, int, int]:
    """Mistakes of both rules, those where the two differ, those in hindsight, and the flips."""
    run = default(stream, 1.0).start(rng=seeded(seed))
    cells, labels = run.validated(stream.columns, stream.labels)
    releases, known, flips = Releases([(0, run.hypothesis)]), {run.hypothesis: 0}, 0
    ahead = len(labels) // PART
    moments = np.linspace(ahead, len(labels) - ahead, MOMENTS).astype(np.int64).tolist()
    counts, taken = np.zeros(5, dtype=np.int64), 0
    errors: dict[Hypothesis, NDArray[np.int64]] = {}
    for moment in moments:
        while taken < moment:
            taken += run.take(cells[taken:moment], labels[taken:moment])
            if releases.add(taken, run.hypothesis):
                flips += run.hypothesis in known
            known[run.hypothesis] = taken
        last, steady, rows = run.hypothesis, releases.steady(), slice(moment, moment + ahead)
        wrong = [int((rule.many(cells[rows]) != labels[rows]).sum()) for rule in (last, steady)]
        recent = [rule for rule, seen in known.items() if 2 * seen >= moment]
        for rule in recent:
            if rule not in errors:
                errors[rule] = np.cumsum([0, *(rule.many(cells) != labels)])
        best = min(int(errors[rule][rows.stop] - errors[rule][moment]) for rule in recent)
        counts += [*wrong, *(wrong if steady != last else (0, 0)), best]
    return (*map(int, counts), flips)  # type: ignore[return-value]
