"""Private selection: one draw among many, beside OpenDP's noisy max in the same run."""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from littlestone.randomness import secure

Row = tuple[str, str, str, bool | None]

SIZES = (16, 1_024, 65_536)
EPSILON = 1.0


def measure() -> Iterator[Row]:
    rng = secure()
    exponential = ExponentialMechanism(epsilon=EPSILON)
    ours: dict[str, ExponentialMechanism | PermuteAndFlip] = {
        "ExponentialMechanism": exponential,
        "PermuteAndFlip": PermuteAndFlip(epsilon=EPSILON),
    }
    for size in SIZES:
        for shape, scores in {"equal": equal(size), "one small": one_small(size)}.items():
            peer = microseconds(opendp_noisy_max(scores))
            yield f"OpenDP noisy max, {size:,} scores, {shape}", f"{peer:,.0f} µs", "", None
            for name, mechanism in ours.items():
                taken = microseconds(partial(mechanism.draw, scores, rng=rng))
                yield (
                    f"{name}, {size:,} scores, {shape}",
                    f"{taken:,.0f} µs ({peer / taken:.1f} × faster)",
                    "faster than OpenDP",
                    taken < peer,
                )
    million = np.arange(1_000_000) % 1000
    for count in (1, 100):
        taken = microseconds(partial(exponential.draw, million, rng=rng, count=count))
        yield f"ExponentialMechanism, {count} of 1,000,000", f"{taken / 1000:,.1f} ms", "", None
    runs = np.arange(1_000)
    taken = microseconds(partial(exponential.draw, runs, multiplicities=[2**30] * 1_000, rng=rng))
    yield "ExponentialMechanism, 2⁴⁰ concepts in 1,000 runs", f"{taken:,.0f} µs", "", None


def equal(size: int) -> NDArray[np.int64]:
    """All scores alike: OpenDP's fastest case."""
    return np.zeros(size, dtype=np.int64)


def one_small(size: int) -> NDArray[np.int64]:
    """One score far below the others: OpenDP's slowest case."""
    scores = np.full(size, 1000)
    scores[size // 2] = 0
    return scores


def opendp_noisy_max(scores: NDArray[np.int64]) -> Callable[[], object]:
    """A call of OpenDP's mechanism on these scores, at the same epsilon for replaced examples."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    mechanism = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 / EPSILON, negate=True)
    return lambda: mechanism(scores)


def microseconds(call: Callable[[], object], seconds: float = 0.4) -> float:
    """The median time of one call."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times)
