"""Compute the exact privacy curve of two neighbouring streams."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Final

from littlestone import require
from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import NOTHING, ONE, UNIT, Mass
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.two_worlds import Subject, TwoWorldAdversary, World, look
from littlestone.errors import LittlestoneError
from littlestone.game.transcript import axes_or_new
from littlestone.privacy.rounding import exp_lower_bound, exp_upper_bound

NEGLIGIBLE: Final = Fraction(1, 1 << 50)
MOST_RUNS: Final = 1_000_000
_MOST_KINDS: Final = 100_000
_LARGEST_EPSILON: Final = 64.0
_STEPS: Final = 40

Pairs = tuple[tuple[Mass, Mass], ...]
"""The masses of each view in the two worlds."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyCurve:
    """δ(ε) of one game, between rational bounds; the larger of the two directions.

    δ(ε) is the sum over all views v of max(0, P(v) - e**ε Q(v)), P and Q being the laws of what
    is published in the two worlds. Omitted runs may have any views: their mass is added to the
    upper bound and subtracted e**ε-fold from the lower one.
    """

    runs: int
    """The number of runs in both worlds."""
    missing: float
    """An upper bound on the omitted mass."""
    _pairs: Pairs = field(repr=False)
    _missing: tuple[int, int] = field(repr=False)

    def delta_bounds(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """Return rational bounds on δ(ε)."""
        require.non_negative(epsilon=epsilon)
        if epsilon:
            require.positive(epsilon=epsilon)  # and at most a million
        low, high = exp_lower_bound(Fraction(epsilon)), exp_upper_bound(Fraction(epsilon))
        swapped = tuple((q, p) for p, q in self._pairs)
        return (
            max(
                _lower(self._pairs, high, self._missing[1]),
                _lower(swapped, high, self._missing[0]),
            ),
            max(
                _upper(self._pairs, low, self._missing[0]),
                _upper(swapped, low, self._missing[1]),
            ),
        )

    def plot(self, axes: Any = None, *, most: float = 3.0) -> Any:
        """Draw the upper bound on δ against ε up to ``most``, and return the axes."""
        require.positive(most=most)
        axes = axes_or_new(axes)
        steps = [most * place / 60 for place in range(1, 61)]
        axes.plot(steps, [float(self.delta_bounds(epsilon)[1]) for epsilon in steps])
        axes.set_xlabel("ε")
        axes.set_ylabel("δ(ε), at most")
        return axes

    def epsilon_lower_bound(self, delta: float) -> float:
        """Return an ε at which δ(ε) certainly exceeds ``delta``: every smaller claim is refuted."""
        require.probability(delta=delta)
        return self._turn(lambda epsilon: self.delta_bounds(epsilon)[0] > Fraction(delta))[0]

    def epsilon_upper_bound(self, delta: float) -> float:
        """Return an ε at which δ(ε) is certainly at most ``delta``.

        Infinite if none below 64 is.
        """
        require.probability(delta=delta)
        above = self._turn(lambda epsilon: self.delta_bounds(epsilon)[1] > Fraction(delta))[1]
        return above if above <= _LARGEST_EPSILON else float("inf")

    def then(self, other: "PrivacyCurve") -> "PrivacyCurve":
        """Return the curve of two independent games together.

        Releases with independent noise are independent given the data and all earlier releases;
        then the laws of the two views multiply in both worlds.
        """
        pairs = tuple(
            (p.times(p_other), q.times(q_other))
            for p, q in _alike(self._pairs)
            for p_other, q_other in _alike(other._pairs)
        )
        zero, one = self._missing
        return self._with(pairs, missing=(zero + other._missing[0], one + other._missing[1]))

    def times(self, count: int) -> "PrivacyCurve":
        """Return the curve of ``count`` independent games of this kind.

        >>> from littlestone.audit.attacks import OneQuestion
        >>> from littlestone.audit.subjects.mechanism_subjects import selection
        >>> from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
        >>> subject = selection(ExponentialMechanism(epsilon=1.0))
        >>> curve = privacy_curve(subject, OneQuestion(zero=[0, 1], one=[1, 0]), rounds=1)
        >>> [round(curve.times(count).epsilon_lower_bound(0.01), 2) for count in (1, 4, 16)]
        [0.48, 1.93, 5.69]
        """
        require.integer(count=count, at_least=1)
        kinds = _alike(self._pairs)
        if comb(count + len(kinds) - 1, count) > _MOST_KINDS:
            raise LittlestoneError(
                f"{len(kinds)} different views are too many for {count} games; lower count"
            )
        pairs = tuple(
            _together(kinds, Counter(which))
            for which in combinations_with_replacement(range(len(kinds)), count)
        )
        return self._with(pairs, missing=(count * self._missing[0], count * self._missing[1]))

    def _with(self, pairs: Pairs, *, missing: tuple[int, int]) -> "PrivacyCurve":
        return PrivacyCurve(
            runs=self.runs, missing=max(missing) / UNIT, _pairs=pairs, _missing=missing
        )

    def _turn(self, exceeds: Callable[[float], bool]) -> tuple[float, float]:
        """Find by bisection where the decreasing curve stops exceeding the bound."""
        if not exceeds(0.0):
            return 0.0, 0.0
        low, high = 0.0, _LARGEST_EPSILON
        if exceeds(high):
            return high, 2 * high
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if exceeds(middle) else (low, middle)
        return low, high


def _alike(pairs: Pairs) -> Pairs:
    """Merge views with equal masses, which does not change the curve."""
    found = Counter(pairs)
    return tuple((p.often(count), q.often(count)) for (p, q), count in found.items())


def _together(kinds: Pairs, often: Counter[int]) -> tuple[Mass, Mass]:
    """Return the number of orders in which each kind occurs this often."""
    p = q = ONE
    left, orders = often.total(), 1
    for kind, count in often.items():
        p, q = (one.times(of.power(count)) for one, of in zip((p, q), kinds[kind], strict=True))
        orders, left = orders * comb(left, count), left - count
    return p.often(orders), q.often(orders)


def _lower(pairs: Pairs, factor: Fraction, missing: int) -> Fraction:
    up, down = factor.numerator, factor.denominator
    excess = sum(max(0, p.low * down - q.high * up) for p, q in pairs) - missing * up
    return max(Fraction(0), Fraction(excess, down * UNIT))


def _upper(pairs: Pairs, factor: Fraction, missing: int) -> Fraction:
    up, down = factor.numerator, factor.denominator
    excess = sum(max(0, p.high * down - q.low * up) for p, q in pairs) + missing * down
    return min(Fraction(1), Fraction(excess, down * UNIT))


class _Watched(World):
    """Records what is published, as seen by the adversary."""

    def __init__(self, subject: Subject, bit: int, tape: Tape) -> None:
        super().__init__(subject, bit, tape)
        self._tape = tape
        self.published: list[Hashable] = [look(getattr(self.opening, "shown", self.opening))]

    def send(self, example: Any) -> Any:
        return self._answered(super().send, example)

    def challenge(self, zero: Any, one: Any) -> Any:
        return self._answered(super().challenge, zero, one)

    def _answered(self, ask: Callable[..., Any], *examples: Any) -> Any:
        if not self._tape.left:
            raise LittlestoneError("the game is longer than rounds; raise rounds")
        answer = ask(*examples)
        self._tape.left -= 1
        self.published.append(look(answer))
        return answer


@require.checked
def privacy_curve(
    subject: Subject,
    adversary: TwoWorldAdversary,
    *,
    rounds: int,
    negligible: Fraction = NEGLIGIBLE,
    most: int = MOST_RUNS,
    proposals: bool = False,
    words: Sequence[int] = (),
) -> PrivacyCurve:
    """Return the curve of everything published while ``adversary`` plays up to ``rounds`` rounds.

    All coins of the run and of the adversary are enumerated; cases of less than ``negligible`` are
    omitted and added to the bounds. One input is one round. The view is everything shown to the
    adversary, whatever it reports as noticed.

    Some samplers are replaced by their law (littlestone.audit.exact.laws.SUBSTITUTES). With
    ``proposals`` IncrementalSelection runs unchanged; the instance must then be tiny. Raw words are
    an error unless ``words`` are given: then the source draws uniformly from these. For coins that
    are independent of the data, as in LinearPool, that is enough: the guarantee holds for each of
    their values.

    >>> from littlestone.audit.attacks import OneQuestion
    >>> from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
    >>> count = LaplaceCount(epsilon=1.0)
    >>> subject = Subject.from_release(count)
    >>> curve = privacy_curve(subject, OneQuestion(zero=0, one=1), rounds=1)
    >>> round(curve.epsilon_lower_bound(1e-9), 6)  # P(noise >= 0) / P(noise >= 1) is e
    1.0
    """
    require.integer(rounds=rounds, most=most, at_least=1)
    cut = int(negligible * UNIT)

    def law(bit: int) -> Law:
        def play(tape: Tape) -> Hashable:
            world = _Watched(subject, bit, tape)
            adversary.play(world, tape)
            return tuple(world.published)

        return law_of(play, rounds=rounds, negligible=cut, most=most, words=words)

    with enumerable(proposals=proposals):
        return curve_between(law(0), law(1))


def curve_between(zero: Law, one: Law) -> PrivacyCurve:
    """Return the curve of two laws of views."""
    views = zero.views.keys() | one.views.keys()
    return PrivacyCurve(
        runs=zero.runs + one.runs,
        missing=max(zero.missing, one.missing) / UNIT,
        _pairs=tuple((zero.views.get(v, NOTHING), one.views.get(v, NOTHING)) for v in views),
        _missing=(zero.missing, one.missing),
    )
