"""The theorem of private_keys/recipe.md by exact laws, and the engine against the plain one."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.reference.plain_keys import PlainKeys

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import NOTHING, UNIT
from littlestone.audit.exact.tape import Law, law_of
from littlestone.learners.private_keys.recipe import PrivateKeys

Example = tuple[str, int]
Listed = frozenset[str]
View = tuple[Listed, ...]
Strategy = Callable[[View], Example]
NOISES = np.arange(90)


@dataclass(frozen=True)
class Model:
    """The mechanism's numbers, and what a broken one does otherwise."""

    query_rate: float = 0.7
    threshold_rate: float = 0.3
    complaint_query_rate: float = 0.7
    complaint_threshold_rate: float = 0.3
    reports: int = 3
    complaints: int = 2
    only_when_counted: bool = False
    kept_when_unlisted: bool = False

    def fresh(self, listed: bool) -> "Counter":
        rate = self.complaint_threshold_rate if listed else self.threshold_rate
        return Counter(listed, 0, -math.expm1(-rate) * np.exp(-rate * NOISES))

    def fires(self, counter: "Counter") -> np.ndarray:
        """For each threshold noise, the probability of firing in one round."""
        rate = self.complaint_query_rate if counter.listed else self.query_rate
        threshold = self.complaints if counter.listed else self.reports
        return np.asarray(np.exp(-rate * np.maximum(threshold + NOISES - counter.count, 0)))


@dataclass(frozen=True)
class Counter:
    listed: bool
    count: int
    weights: np.ndarray
    """The joint probability of each threshold noise and of what was published so far."""


def views(
    model: Model,
    play: Strategy,
    rounds: int,
    listed: str = "",
    counts: dict[str, int] | None = None,
) -> dict[View, float]:
    """The exact law of what is published, from a list and counts to start with."""
    found: dict[View, float] = {}

    def go_on(
        view: View, mass: float, counters: dict[str, Counter], kept: dict[str, Counter]
    ) -> None:
        if len(view) > rounds:
            found[view] = mass * math.prod(float(c.weights.sum()) for c in counters.values())
            return
        listed, (x, y) = view[-1], play(view)
        counters = dict(counters)
        if (x in listed) != bool(y):
            counter = counters.get(x) or kept.get(x) or model.fresh(False)
            counters[x] = replace(counter, count=counter.count + 1)
        awake = [key for key in sorted(counters) if not model.only_when_counted or key == x]
        for fired in subsets(awake):
            after, kept_after, odds = {}, dict(kept), mass
            for key, counter in counters.items():
                fires = model.fires(counter) if key in awake else np.zeros(len(NOISES))
                if key not in fired:
                    after[key] = replace(counter, weights=counter.weights * (1 - fires))
                    continue
                weights = counter.weights * fires
                odds *= float(weights.sum())
                if not counter.listed:
                    after[key] = model.fresh(True)
                    if model.kept_when_unlisted:
                        kept_after[key] = replace(counter, weights=weights / weights.sum())
            go_on((*view, listed ^ frozenset(fired)), odds, after, kept_after)

    start = {key: model.fresh(key in listed) for key in {*listed, *(counts or {})}}
    for key, count in (counts or {}).items():
        start[key] = replace(start[key], count=count)
    go_on((frozenset(listed),), 1.0, start, {})
    return found


def subsets(keys: list[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(keys) + 1):
        yield from itertools.combinations(keys, size)


def strategy(seed: int, special: int, example: Example) -> Strategy:
    """A random adaptive adversary that reports, complains and rests, and its special round."""

    def play(view: View) -> Example:
        if len(view) == special:
            return example
        history = [sorted(listed) for listed in view]
        drawn = np.random.default_rng([seed, *repr(history).encode()]).integers(6)
        return [("a", 1), ("b", 1), ("a", 1), ("b", 0), ("a", 0), ("c", 0)][drawn]

    return play


def excess(laws: list[dict[View, float]], known: int) -> float:
    """The smallest delta for epsilon = 1 given the worst ``known`` first releases."""
    assert sum(laws[0].values()) == pytest.approx(1.0, abs=1e-9)
    worst = 0.0
    for prefix in {view[:known] for view in laws[0]}:
        parts = [{v: p for v, p in law.items() if v[:known] == prefix} for law in laws]
        whole = sum(parts[0].values())
        for these, those in (parts, parts[::-1]):
            over = sum(max(0.0, p - math.e * those.get(v, 0.0)) for v, p in these.items())
            worst = max(worst, over / whole)
    return worst


def random_game(model: Model, seed: int) -> float:
    special, pair = 1 + seed % 4, PAIRS[seed % len(PAIRS)]
    laws = [views(model, strategy(seed, special, example), 4) for example in pair]
    return excess(laws, special)


def allowed(model: Model, rounds: int) -> float:
    """(1 + e)·T·P(query noise >= threshold + noise)."""
    a, b = math.exp(-model.query_rate), math.exp(-model.threshold_rate)
    return (1 + math.e) * rounds * a**model.reports * (1 - b) / (1 - a * b)


PAIRS = list(itertools.permutations([("a", 1), ("b", 1), ("a", 0), ("c", 0)], 2))


@pytest.mark.parametrize("model", [Model(), Model(reports=5), Model(reports=9, complaints=1)])
def test_the_exact_law_keeps_the_promise(model: Model) -> None:
    assert max(random_game(model, seed) for seed in range(36)) <= allowed(model, 4) + 1e-9


@dataclass(frozen=True)
class Scene:
    """A start near some threshold, the two special examples, and what follows."""

    pair: tuple[Example, Example]
    after: list[Example]
    counts: dict[str, int]
    listed: str = ""

    def excess(self, model: Model) -> float:
        rounds = 1 + len(self.after)
        laws = [
            views(model, self._plays(example), rounds, self.listed, self.counts)
            for example in self.pair
        ]
        return excess(laws, 1)

    def _plays(self, example: Example) -> Strategy:
        return lambda view: [example, *self.after][len(view) - 1]


REST, HIGH = ("c", 0), Model(reports=20)  # so high a threshold leaves next to nothing to delta
SCENES = {
    "noise only when counted": (
        Scene((("a", 1), REST), [REST], {"a": 19}),
        replace(HIGH, only_when_counted=True),
    ),
    "other rates for complaints": (
        Scene((("a", 1), ("b", 0)), [REST] * 3, {"a": 19, "b": 2}, listed="b"),
        replace(HIGH, complaint_query_rate=0.3, complaint_threshold_rate=0.7),
    ),
    "counters kept": (
        Scene((("a", 1), REST), [("a", 0), ("a", 0), ("a", 1)], {"a": 17}),
        replace(HIGH, kept_when_unlisted=True),
    ),
    "list by true count": (
        Scene((("a", 1), REST), [REST], {"a": 19}),
        replace(HIGH, query_rate=50.0, threshold_rate=50.0),
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_broken_mechanism_is_found_out(name: str) -> None:
    scene, broken = SCENES[name]
    assert scene.excess(HIGH) <= allowed(HIGH, 4)
    assert scene.excess(broken) > 10 * allowed(HIGH, 4)


def test_the_promise_is_tight() -> None:
    """One key is listed at once, and the other one, higher by one in one world only, is not."""
    scene = Scene((("a", 1), ("b", 1)), [REST] * 8, {"a": 19, "b": 19})
    rounds = 9
    laws = [views(HIGH, scene._plays(e), rounds, "", scene.counts) for e in scene.pair]
    ratios = [math.log(laws[0][view] / laws[1][view]) for view in laws[0] if laws[1][view] > 1e-12]
    assert 0.9 < max(ratios) <= 1 + 1e-9


def law(recipe: PrivateKeys, plain: bool, examples: list[Example]) -> Law:
    def play(tape: Any) -> View:
        run: Any = PlainKeys(recipe, tape) if plain else recipe.start(rng=tape)
        seen = []
        for x, y in examples:
            run.observe(x, y)
            tape.left -= 1
            seen.append(frozenset(run.hypothesis.positives))
        return tuple(seen)

    with enumerable():
        return law_of(play, rounds=len(examples), negligible=UNIT >> 24, most=10**5)


# At epsilon = 10 two reports list a key and one complaint unlists it, and a key that was just
# listed goes without a complaint once in two thousand times.
@pytest.mark.parametrize(
    ("epsilon", "examples"),
    [
        (5.0, [("a", 1), ("b", 1), ("a", 1)]),
        (5.0, [("a", 1), ("a", 1), ("a", 0), ("a", 1)]),
        (10.0, [("a", 1), ("a", 1), ("a", 1), ("a", 1)]),
        (10.0, [("a", 1), ("a", 1), ("a", 0), ("b", 1)]),
    ],
)
def test_the_engine_has_the_law_of_the_plain_one(epsilon: float, examples: list[Example]) -> None:
    recipe = PrivateKeys(rounds=4, epsilon=epsilon, delta=0.9)
    assert (recipe.reports == recipe.complaints) == (epsilon < 10)
    fast, plain = law(recipe, False, examples), law(recipe, True, examples)
    slack = fast.missing + plain.missing
    assert slack < UNIT >> 12
    for view in fast.views.keys() | plain.views.keys():
        one, other = fast.views.get(view, NOTHING), plain.views.get(view, NOTHING)
        assert one.low <= other.high + slack and other.low <= one.high + slack
    assert len(fast.views) > 4
