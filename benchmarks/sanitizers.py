"""Sanitizers: time of a round and of a release, and the specialised ones beside the generic one.

The peer is MWEM of smartnoise-synth, which wants an environment of its own: set MWEM_PYTHON to a
Python that can import ``snsynth``, or its row says that it was not measured.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.sanitizers.choose import sanitizer_for
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.protocols import Sanitized
from littlestone.learners.sanitizers.queries import queries_of
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

CELLS = 1024
SIZE = 100_000
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}

MWEM = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from snsynth.mwem import MWEMSynthesizer
values = json.load(sys.stdin)
started = time.perf_counter()
peer = MWEMSynthesizer(epsilon=1.0, q_count=400, iterations=10, split_factor=1)
peer.fit(pd.DataFrame({"x": values}), categorical_columns=["x"])
seconds = time.perf_counter() - started
drawn = np.asarray(peer.sample(len(values))).astype(int).ravel()
counts = [np.bincount(np.clip(xs, 0, 1022), minlength=1023) for xs in (values, drawn)]
curves = [np.cumsum(c) / len(values) for c in counts]
print(json.dumps([seconds, float(np.abs(curves[0] - curves[1]).max())]))
"""


def measure() -> Iterator[Row]:
    generator = np.random.default_rng(1)
    scattered = FiniteClass(generator.integers(2, size=(CELLS, CELLS)))
    yield from _generic(scattered, generator.choice(CELLS, size=SIZE, p=_few(generator)))
    delays = np.minimum(generator.lognormal(np.log(CELLS / 8), 1.0, size=SIZE), CELLS - 2)
    yield from _specialised(Thresholds(CELLS - 1), delays.astype(np.int64), "delays")
    visits = np.minimum(generator.zipf(1.5, size=SIZE) - 1, CELLS - 2)
    yield from _specialised(Points(CELLS - 1), visits, "visits")
    yield _realizable(scattered, generator.integers(CELLS, size=SIZE))
    yield _peer(delays.astype(np.int64))


def _generic(concepts: FiniteClass, data: NDArray[np.int64]) -> Iterator[Row]:
    started = time.perf_counter()
    recipe = FoolingSanitizer.planned(concepts=concepts, size=SIZE, **BUDGET)
    planning = time.perf_counter() - started
    released = recipe.release(data, rng=secure())
    seconds = time.perf_counter() - started
    bound = recipe.error_bound(size=SIZE, failure_probability=0.05)
    each = (seconds - planning) / released.rounds
    yield (
        f"one round, |H| = |X| = {CELLS}",
        f"{each * 1e3:.2f} ms",
        "≤ 5 ms",
        each <= 5e-3,
    )
    yield (
        f"whole sanitizer, n = {SIZE}, error at most {bound:.3f} promised, "
        f"{_error(concepts, data, released):.3f} seen, {released.rounds} rounds",
        f"{seconds:.2f} s",
        "≤ 10 s, error 0.1",
        seconds <= 10 and bound <= 0.1,
    )


def _specialised(concepts: ConceptClass, data: NDArray[np.int64], name: str) -> Iterator[Row]:
    seen: dict[str, float] = {}
    for recipe in (
        FoolingSanitizer.planned(concepts=concepts, size=SIZE, **BUDGET),
        FoolingSanitizer.planned(concepts=concepts, size=SIZE, **BUDGET, optimism=8.0),
        sanitizer_for(concepts, size=SIZE, **BUDGET),
    ):
        started = time.perf_counter()
        released = recipe.release(data, rng=secure())
        seconds = time.perf_counter() - started
        optimistic = seen and isinstance(recipe, FoolingSanitizer)
        kind = type(recipe).__name__ + (" optimistic" if optimistic else "")
        seen[kind] = _error(concepts, data, released)
        bound = recipe.error_bound(size=SIZE, failure_probability=0.05)
        yield (
            f"{concepts!r}, {SIZE} {name}: {kind}, error promised {bound:.4f}",
            f"error {seen[kind]:.4f} in {seconds * 1e3:.0f} ms",
            "",
            None,
        )
    generic, *_, special = seen.values()
    yield (
        f"{concepts!r}: the specialised sanitizer's error is smaller by",
        f"{generic / special:.0f} ×",
        "≥ 10 ×",
        generic >= 10 * special,
    )


def _realizable(concepts: FiniteClass, data: NDArray[np.int64]) -> Row:
    started = time.perf_counter()
    recipe = RealizableSanitizer.planned(concepts=concepts, size=SIZE, **BUDGET)
    released = recipe.release(data, rng=secure())
    seconds = time.perf_counter() - started
    bound = recipe.error_bound(size=SIZE, failure_probability=0.05)
    return (
        f"realizable sanitizer, same class, shares from {bound:.3f} on are flagged, "
        f"{released.rounds} rounds",
        f"{seconds:.2f} s",
        "≤ 10 s",
        seconds <= 10,
    )


def _peer(data: NDArray[np.int64]) -> Row:
    name = "smartnoise-synth MWEM, the same delays, ε = 1, 10 iterations, 400 queries"
    python = os.environ.get("MWEM_PYTHON")
    if python is None:
        return name, "not measured: MWEM_PYTHON is not set", "", None
    done = subprocess.run(
        [python, "-c", MWEM], input=json.dumps(data.tolist()), text=True, capture_output=True
    )
    if done.returncode:
        return name, f"failed: {done.stderr.strip().splitlines()[-1]}", "", None
    seconds, error = json.loads(done.stdout.splitlines()[-1])
    return name, f"threshold error {error:.4f} in {seconds:.1f} s", "", None


def _error(concepts: ConceptClass, data: NDArray[np.int64], released: Sanitized) -> float:
    queries = queries_of(concepts)
    truth = queries.counts(queries.tally(data)) / len(data)
    found = [released.estimate(concept) for concept in concepts.concepts()]
    return float(np.abs(truth - np.array(found)).max())


def _few(generator: np.random.Generator) -> NDArray[np.float64]:
    return generator.dirichlet(np.full(CELLS, 0.01))
