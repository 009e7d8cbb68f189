"""How long it takes to choose, plan and bound a learner, and whether the bounds say anything."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from littlestone.choose.catalogue import LEARNERS
from littlestone.choose.recommendation import recommend
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.private_majority.recipe import PrivateMajority

Row = tuple[str, str, str, bool | None]

ROUNDS = 1_000_000
OBLIVIOUS: dict[str, Any] = {"setting": "agnostic", "adversary": "oblivious"}
QUESTIONS: tuple[tuple[ConceptClass, int, float, dict[str, Any]], ...] = (
    (Points(), 10**12, 1.0, {}),
    (Points(1024), 10**6, 0.1, {}),
    (Thresholds(64), 10**4, 1.0, {}),
    (Thresholds(64), 10**6, 0.1, {}),
    (Thresholds(2**30), 10**6, 1.0, {}),
    (Points(1024), 10**6, 0.1, OBLIVIOUS),
    (Thresholds(64), 10**6, 0.1, OBLIVIOUS),
)


def measure() -> Iterator[Row]:
    for exponent in (4, 10, 20, 30, 40):
        yield from majority(Thresholds(2**exponent))
    yield from majority(Points(1024))
    for question in QUESTIONS:
        yield advice(*question)
    yield tiny_budget()


def majority(concepts: ConceptClass) -> Iterator[Row]:
    """A million rounds at epsilon = 1; useful is what is far below a rule that never learns."""
    recipe = PrivateMajority(concepts=concepts, rounds=ROUNDS, epsilon=1.0)
    seconds, bound = timed(partial(recipe.mistake_bound, failure_probability=0.05))
    mean = recipe.expected_mistake_bound()
    yield f"PrivateMajority.mistake_bound on {concepts!r}", *judged(seconds, 0.1)
    what = f"its mistakes, at most (95 %) and on average ({mean:,.0f})"
    yield what, f"{bound:,.0f}", "≤ 10,000", bound <= 10_000


def advice(concepts: ConceptClass, rounds: int, epsilon: float, how: dict[str, Any]) -> Row:
    usual = {"setting": "realizable", "adversary": "adaptive"}
    asked: Any = {"rounds": rounds, "epsilon": epsilon, **usual, **how}
    seconds, found = timed(partial(recommend, concepts, **asked))
    name = found.best.name if found.best else "nobody"
    words = ", ".join([f"{rounds:.0e} rounds", f"epsilon = {epsilon:g}", *how.values()])
    what = f"recommend({concepts!r}, {words}): {name}"
    return what, *judged(seconds, 1.0)


def tiny_budget() -> Row:
    """The learner that takes longest to plan, or to refuse, at epsilon = 1e-9."""
    seconds: dict[str, float] = {}
    for name, entry in LEARNERS.items():
        for concepts in (Thresholds(64), Points(100)):
            build = partial(entry.build, concepts=concepts, rounds=ROUNDS, epsilon=1e-9, delta=1e-6)
            took, _ = timed(partial(_refused_or, build))
            seconds[name] = max(took, seconds.get(name, 0.0))
    slowest = max(seconds, key=seconds.__getitem__)
    return f"epsilon = 1e-9, the slowest plan: {slowest}", *judged(seconds[slowest], 1.0)


def _refused_or(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except ValueError as refusal:
        return refusal


def timed(what: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time of one call, and what it gives."""
    began = time.process_time()
    found = what()
    return time.process_time() - began, found


def judged(seconds: float, target: float) -> tuple[str, str, bool]:
    return f"{seconds:.3f} s", f"≤ {target:g} s", seconds <= target
