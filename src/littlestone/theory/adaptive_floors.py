"""Floors against an adversary that answers the published hypothesis (docs/theory/floors.md).

In each round the learner publishes h_t, and then the adversary chooses (x_t, y_t), as in the
paper's privacy game [P, Definition 2.4] and in ``play(peek=True)``. Against an adversary that does
not see h_t, mistakes + switches + 1 is at least the floor. Learners may be improper. Privacy is (ε,
δ) for replaced examples, against all adversaries. Mistakes are expected ones, against a realizable
adversary that does not depend on the learner.

Every probability is rounded upwards and every sum of their complements downwards.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.theory.outwards import downwards, upwards

Array = NDArray[np.float64]

_LONGEST: Final = 1 << 15
"""The longest planned attack; shorter attacks give valid floors, too."""
_REFINED: Final = 1 << 11
"""From this many steps on, only the closed form of Lemma 2 is used."""
_REFINED_GAMES: Final = 12
_UP: Final = 1 + 2.0**-48
"""More than the roundings of one step: five, each a factor of 1 + 2**-53 at most."""
_FEW: Final = 0.02
"""Below this probability the straight part of the privacy curve is the smaller one."""
_BEYOND: Final = (-2, -1, 0, 1, 2, 3, 5, 8, 12)


@dataclass(frozen=True, slots=True)
class WaitingGame:
    """How long an adversary attacks, waits and attacks again, and the mistakes that this forces."""

    mistakes: float
    """The floor."""
    burst: int
    """Rounds of attack at the beginning."""
    within: int
    """The second attack begins in a uniformly random one of this many rounds after that."""
    counted: int
    """The floor also holds for the mean of min(mistakes, ``counted``)."""

    @classmethod
    def after_burst(
        cls, *, rounds: int, epsilon: float, delta: float, concepts: int | None = None
    ) -> "WaitingGame":
        """Return the best game found for ``burst_and_wait_lower_bound``."""
        _check(rounds, epsilon, delta)
        curve, share = _Curve(epsilon, delta), _share(concepts)
        if share == 0 == delta:
            return cls(float(rounds), rounds, 1, rounds)
        steps = min(rounds, _steps(epsilon, delta, share))
        reached = curve.again(share, steps)
        sums = np.concatenate([[0.0], np.cumsum(1 - reached)]) * (1 - (steps + 8) * 2.0**-51)

        def game(burst: int, longest: int, *, refined: bool) -> WaitingGame:
            right = float(reached[burst])
            starts = min(rounds - burst, rounds - burst - 2 * longest + 1)
            late = curve.late(upwards(right / starts), longest, refined=refined)
            floor = downwards(float(sums[burst]) + _complements(late + right))
            return cls(floor, burst, starts, burst + longest + 1)

        tried = [
            (game(burst, longest, refined=False), longest)
            for burst in range(0, int(np.searchsorted(reached, 0.6)), max(1, int(0.1 / epsilon)))
            for longest in curve.lengths(
                rounds / float(reached[burst]) if reached[burst] else math.inf
            )
            if rounds - burst - 2 * longest + 1 >= 1
        ]
        tried.sort(key=lambda pair: -pair[0].mistakes)
        best = [game(one.burst, longest, refined=True) for one, longest in tried[:_REFINED_GAMES]]
        only_burst = cls(downwards(float(sums[-1])), steps, 1, steps)
        return max([only_burst, *best], key=lambda one: one.mistakes)

    @classmethod
    def without_burst(
        cls, *, concepts: int, rounds: int, epsilon: float, delta: float
    ) -> "WaitingGame":
        """Return the game of ``wait_lower_bound``."""
        _check(rounds, epsilon, delta)
        require.integer(concepts=concepts, at_least=1)
        curve, best = _Curve(epsilon, delta), cls(0.0, 0, 1, 0)
        for longest in curve.lengths((concepts - 1) * float(rounds)) if concepts > 1 else ():
            starts = min(rounds, rounds - 2 * longest + 1)
            if starts < 1:
                continue
            floor = _complements(curve.late(upwards(1 / ((concepts - 1) * starts)), longest))
            best = max(best, cls(floor, 0, starts, longest + 1), key=lambda one: one.mistakes)
        return best


@dataclass(frozen=True, slots=True)
class _Curve:
    """f(p) = min(e^ε·p + δ, 1 - e^-ε·(1 - p - δ), 1), from above.

    Replacing one example raises the probability p of an event to at most f(p).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Make floats of exact numbers; a positive delta stays positive."""
        for name in ("epsilon", "delta"):
            exact = getattr(self, name)
            near = float(exact)
            object.__setattr__(self, name, near if near >= exact else upwards(near))

    @property
    def growth(self) -> float:
        return upwards(math.exp(self.epsilon)) if self.epsilon < 700 else math.inf

    def once(self, p: Array) -> Array:
        delta = self.delta
        with np.errstate(invalid="ignore"):
            straight = np.where(p > 0, self.growth * p, 0.0) + delta
        # 1 - e^-ε(1 - p - δ), as a sum of positive numbers.
        bent = -math.expm1(-self.epsilon) + math.exp(-self.epsilon) * (p + delta)
        found: Array = np.minimum(np.minimum(straight, bent) * _UP, 1.0)
        return found

    def again(self, p: float, times: int) -> Array:
        """Return ``times`` values: p, f(p), f(f(p)), …."""
        found = np.empty(times)
        growth, delta = self.growth, self.delta
        keep, flat = math.exp(-self.epsilon), -math.expm1(-self.epsilon)
        for number in range(times):
            found[number] = p
            if p >= 1:
                found[number:] = 1.0
                break
            straight = (growth * p if p else 0.0) + delta
            p = min(straight * _UP, (flat + keep * (p + delta)) * _UP, 1.0)
        return found

    def late(self, p: float, longest: int, *, refined: bool = True) -> Array:
        """u_0 … u_I of Lemma 2: P(N ≤ i) under attack, if P(N = j) ≤ p in silence."""
        i = np.arange(longest + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.exp(self.epsilon * i)  # e^(jε)
            sums = np.cumsum(powers)  # 1 + e^ε + … + e^(iε)
            up = 1 + (longest + 16) * 2.0**-51
            slack = self.delta * np.concatenate([[0.0], sums[:-1]])  # δ_i
            grown = np.where(i > 0, (p * (sums - 1) + slack) * up, 0.0)
            first: Array = np.minimum(np.nan_to_num(grown, nan=1.0), 1.0)  # k = i
            if not refined or longest > _REFINED:
                return first
            return self._refined(first, p, powers, sums, slack, up)

    def _refined(
        self, value: Array, p: float, powers: Array, sums: Array, slack: Array, up: float
    ) -> Array:
        """Try k < i as well: from some k on, the bent part of the curve grows more slowly."""
        longest = len(value) - 1
        i = np.arange(longest + 1)
        # Up to here k = i is best, since straight steps from a smaller k give more.
        spread = (longest + sums) * p + slack
        start = int(np.searchsorted(spread, _FEW))
        if start > longest:
            return value
        tail = i[start:]
        reached = (p * (sums[start] - 1 + (tail - start) * powers[start]) + slack[start]) * up
        reached = np.minimum(reached, 1.0)
        for k in range(start + 1, longest + 1):
            grown = (p * (sums[k] - 1 + (tail - k) * powers[k]) + slack[k]) * up
            better = np.minimum(self.once(reached), grown)
            reached = np.where(tail >= k, np.minimum(better, 1.0), reached)
        value[start:] = np.minimum(value[start:], reached)
        value[0] = 0.0
        return value

    def lengths(self, mass: float) -> list[int]:
        """Return lengths of attacks worth trying; each gives a valid floor."""
        bent = math.expm1(min(self.epsilon, 700.0)) / self.delta if self.delta else math.inf
        most = min(mass, bent)
        if most == math.inf:
            return []
        centre = math.log(max(1.0, most * -math.expm1(-self.epsilon))) / self.epsilon
        tried = {max(0, int(centre + more / self.epsilon)) for more in _BEYOND}
        return sorted({min(each, _LONGEST) for each in tried} | {0, 1, 2, 3})


def burst_lower_bound(
    *, rounds: int, epsilon: float, delta: float, concepts: int | None = None
) -> float:
    """Σ_{j<T} (1 - f^j(1/n)) for n different concepts (infinitely many if not given).

    Theorem 1: the adversary draws a concept, and in every round sends a point on which the
    published hypothesis differs from it. f(p) = min(e^ε·p + δ, 1 - e^-ε(1 - p - δ)).

    >>> round(burst_lower_bound(rounds=10**6, epsilon=1.0, delta=1e-6), 2)
    14.07
    """
    _check(rounds, epsilon, delta)
    share = _share(concepts)
    if share == 0 == delta:
        return float(rounds)  # nothing is ever learned
    steps = min(rounds, _steps(epsilon, delta, share))
    return _complements(_Curve(epsilon, delta).again(share, steps))


def burst_and_wait_lower_bound(
    *, rounds: int, epsilon: float, delta: float, concepts: int | None = None
) -> float:
    """Σ_{j<c} (1 - f^j(1/n)) + Σ_{i≤I} (1 - f^c(1/n) - u_i): about ln(T/δ)/ε for points.

    Theorem 2′, for n different concepts that agree at one point (infinitely many if not given): c
    rounds of attack, silence, and another attack that starts at a random round.

    >>> round(burst_and_wait_lower_bound(rounds=10**6, epsilon=1.0, delta=1e-6), 2)
    24.33
    """
    game = WaitingGame.after_burst(rounds=rounds, epsilon=epsilon, delta=delta, concepts=concepts)
    return game.mistakes


def wait_lower_bound(*, concepts: int, rounds: int, epsilon: float, delta: float) -> float:
    """Σ_{i≤I} (1 - u_i), about (ln(n - 1) + ln T)/ε, for n different concepts that agree somewhere.

    Theorem A: silence until a random round, then an attack for a random concept that is not the
    published one. Also holds for δ = 0.

    >>> [round(wait_lower_bound(concepts=n, rounds=10**6, epsilon=1.0, delta=0.0), 2)
    ...  for n in (2, 1024)]
    [12.97, 19.88]
    """
    require.integer(concepts=concepts, at_least=1)
    return _wait(concepts, rounds, epsilon, delta)


def wait_down_tree_lower_bound(*, depth: int, rounds: int, epsilon: float, delta: float) -> float:
    """d times the floor of two concepts in T/d rounds, about d·ln(T/d)/ε.

    Theorem B, for a tree of depth d shattered by concepts that agree at one point: the adversary of
    ``wait_lower_bound`` at each vertex of a path from the root.

    >>> round(wait_down_tree_lower_bound(depth=10, rounds=10**6, epsilon=1.0, delta=0.0), 1)
    106.5
    """
    require.integer(depth=depth, at_least=0)
    _check(rounds, epsilon, delta)
    return max((_levels(d, rounds, epsilon, delta) for d in _depths(depth, rounds)), default=0.0)


def dimension_lower_bound(
    *, littlestone_dimension: int, rounds: int, epsilon: float, delta: float
) -> float:
    """1 + (d - 1) times the floor of two concepts in (T - 1)/(d - 1) rounds: every class.

    Theorem B for any class of Littlestone dimension d: one mistake at the root of a shattered tree
    gives an example on which all concepts below it agree.

    >>> round(dimension_lower_bound(
    ...     littlestone_dimension=4, rounds=10**6, epsilon=1.0, delta=0.0), 1)
    36.5
    """
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    _check(rounds, epsilon, delta)
    if littlestone_dimension == 0:
        return 0.0
    below = _depths(littlestone_dimension - 1, rounds - 1)
    return 1.0 + max((_levels(d, rounds - 1, epsilon, delta) for d in below), default=0.0)


def key_sets_lower_bound(
    *, keys: int, rounds: int, epsilon: float, delta: float, universe: int | None = None
) -> float:
    """k times the floor of points in T/k rounds, for sets of k keys from a universe (of size N).

    The game has k stages. Each has its own ⌊(N - 1)/k⌋ keys, of which at most one is in the set.
    Takes the largest of the floors of Theorems 1, 2′ and A.

    >>> round(key_sets_lower_bound(keys=3, rounds=10**6, epsilon=1.0, delta=1e-6), 1)
    72.6
    """
    require.integer(keys=keys, at_least=1)
    _check(rounds, epsilon, delta)
    if universe is not None:
        require.integer(universe=universe, at_least=1)
    tried = range(1, min(keys, rounds) + 1)
    if keys > 8:  # more stages raise the floor until they are very short
        tried = range(max(1, min(keys, rounds) - 1), min(keys, rounds) + 1)
    return max(_stages(k, rounds, epsilon, delta, universe) for k in tried)


def _wait(concepts: int, rounds: int, epsilon: float, delta: float) -> float:
    game = WaitingGame.without_burst(concepts=concepts, rounds=rounds, epsilon=epsilon, delta=delta)
    return game.mistakes


def _levels(depth: int, rounds: int, epsilon: float, delta: float) -> float:
    return downwards(depth * _wait(2, rounds // depth, epsilon, delta))


def _depths(depth: int, rounds: int) -> set[int]:
    """Return depths worth trying: the full depth, unless the rounds are few."""
    most = min(depth, rounds)
    return {d for d in (most, most // 2, most // 4, most // 8, most // 16) if d > 0}


def _stages(keys: int, rounds: int, epsilon: float, delta: float, universe: int | None) -> float:
    part = rounds // keys
    if universe is not None and universe <= keys:
        return 0.0  # too few keys for the stages and one key on which all concepts agree
    own = None if universe is None else (universe - 1) // keys + 1
    each = burst_and_wait_lower_bound(rounds=part, epsilon=epsilon, delta=delta, concepts=own)
    if own is not None:
        each = max(each, _wait(own, part, epsilon, delta))
    return downwards(keys * each)


def _complements(probabilities: Array) -> float:
    """Σ (1 - p)₊, from below."""
    terms = np.nextafter(1 - probabilities, -1.0)
    return max(0.0, downwards(math.fsum(terms[terms > 0].tolist())))


def _steps(epsilon: float, delta: float, share: float) -> int:
    """Return after how many steps from ``share`` the curve is near 1."""
    first = max(delta, share, 1e-300)
    return min(_LONGEST, math.ceil((40 - math.log(first)) / epsilon) + 40)


def _share(concepts: int | None) -> float:
    if concepts is None:
        return 0.0
    require.integer(concepts=concepts, at_least=1)
    return upwards(1 / concepts)


def _check(rounds: int, epsilon: float, delta: float) -> None:
    require.usual(rounds=rounds, epsilon=epsilon)
    require.probability(delta=delta)
