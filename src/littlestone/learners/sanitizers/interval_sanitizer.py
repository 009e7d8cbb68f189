"""Sanitize all intervals of a stream by the binary mechanism, assembled on demand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from littlestone import require
from littlestone.concepts.domain import AnyHashable
from littlestone.concepts.losses.label_counts import split_labels
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.errors import HorizonExceededError
from littlestone.learners.sanitizers.protocols import Costed, Sanitized, Sanitizer
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableRelease
from littlestone.privacy.ledger import Cost, Ledger
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals, Interval
from littlestone.privacy.mixed_budget import ledger_for
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner
from littlestone.type_checks import require_fit

Family = Callable[[int, int], Sanitizer]
"""``family(size, parts)``: the sanitizer for ``size`` examples, at one of ``parts`` equal shares
of some budget."""

Piece = tuple[Interval, Sanitized | None]
"""A dyadic interval and its release; None if it is too short."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalSanitizer(Costed):
    """Release each long enough dyadic interval; assemble any other from these.

    [P, Algorithm 5]. An interval is released when it is over. Levels whose sanitizer could promise
    nothing are left out and cost nothing (docs/ERRATA.md, X11).

    Privacy:
        Releases:   one release of ``family`` for each dyadic interval of a useful length
        Neighbours: streams that differ in one round
        Adversary:  adaptive; later examples may depend on everything released before
        Guarantee:  the costs of ``levels`` releases, concentrated ones converted at ``delta``
        Assumes:    that each release is private conditionally on the past
        Proof:      interval_sanitizer.md

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> from littlestone.randomness import seeded
    >>> from littlestone.learners.sanitizers import histogram_sanitizer
    >>> def family(size: int, parts: int) -> histogram_sanitizer.HistogramSanitizer:
    ...     return histogram_sanitizer.HistogramSanitizer(
    ...         concepts=Points(), epsilon=1 / parts, delta=1e-6 / parts
    ...     )
    >>> recipe = IntervalSanitizer.planned(rounds=1024, family=family, domain=Points().domain)
    >>> recipe.shortest, recipe.levels, recipe.guarantee()
    (256, 3, PrivacyGuarantee(epsilon=1.0, delta=1e-06))
    >>> run = recipe.start(rng=seeded(1))
    >>> for t in range(1, 1025):
    ...     run.observe("often" if t <= 600 else t)
    >>> [interval for interval, release in run.pieces(200, 1000) if release is not None]
    [(257, 512), (513, 768)]
    """

    rounds: int
    family: Family
    domain: Domain
    shortest: int
    """The shortest released length, a power of two; above ``rounds`` nothing is released."""
    labelled: bool = False
    """Whether examples are pairs of point and label."""
    delta: float = 0.0
    """The delta at which concentrated costs are converted; 0 if there are none."""
    sanitizers: dict[int, Sanitizer] = field(init=False, repr=False, compare=False)
    """The sanitizer of each length."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, shortest=self.shortest, at_least=1)
        require.probability(delta=self.delta)
        if self.shortest & (self.shortest - 1):
            raise ValueError(f"shortest must be a power of two, got shortest={self.shortest!r}")
        sanitizers = {size: _of(self.family, size, self.levels) for size in self.lengths}
        if not all(sanitizer.prefix_conditional for sanitizer in sanitizers.values()):
            raise ValueError("family must return prefix-conditional sanitizers")
        for sanitizer in sanitizers.values():
            _refuse_other_points(sanitizer, self.domain)
        object.__setattr__(self, "sanitizers", sanitizers)

    @classmethod
    @require.checked
    def planned(
        cls,
        *,
        rounds: int,
        family: Family,
        domain: Domain,
        failure_probability: float = 0.05,
        labelled: bool = False,
        delta: float = 0.0,
    ) -> "IntervalSanitizer":
        """Use as many levels as have a useful error bound at their share of the budget."""
        require.integer(rounds=rounds, at_least=1)
        longest = 1 << rounds.bit_length() - 1
        shortest = 2 * longest  # no level at all
        for levels in range(1, rounds.bit_length() + 1):
            size = longest >> levels - 1
            error = _of(family, size, levels).error_bound(
                size=size, failure_probability=failure_probability
            )
            if error >= 1:
                break
            shortest = size
        return cls(
            rounds=rounds,
            family=family,
            domain=domain,
            shortest=shortest,
            labelled=labelled,
            delta=delta,
        )

    @property
    def lengths(self) -> list[int]:
        """The lengths that are released."""
        return [
            1 << level for level in range(self.rounds.bit_length()) if 1 << level >= self.shortest
        ]

    @property
    def levels(self) -> int:
        """The number of releases that one example can be part of."""
        return len(self.lengths)

    def costs(self) -> tuple[Cost, ...]:
        """Return the costs of one release of each length."""
        return tuple(cost for size in self.lengths for cost in self.sanitizers[size].costs())

    def error_bound(self, *, failure_probability: float) -> float:
        """Return Δ·u, a bound on the error of the counts in all intervals at once.

        Each of at most u pieces is off by at most Δ, the largest of size times error; a piece that
        is too short to be released counts in full. For a realizable sanitizer: a concept that holds
        on this many rounds of an interval is flagged in one of its pieces.
        """
        releases = sum(self.rounds // size for size in self.lengths)
        share = failure_probability / max(releases, 1)
        errors = [
            size * self.sanitizers[size].error_bound(size=size, failure_probability=share)
            for size in self.lengths
        ]
        # At most two pieces of each length make up an interval.
        return float(2 * sum(errors) + 2 * (min(self.shortest, self.rounds + 1) - 1))

    def start(self, *, rng: Randomness) -> "IntervalSanitizerRun":
        """Start a run."""
        return IntervalSanitizerRun(self, rng)


@require.checked
class IntervalSanitizerRun(NoiseOwner):
    """The examples of unfinished intervals, and all releases."""

    def __init__(self, recipe: IntervalSanitizer, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._dyadic = DyadicIntervals(rounds=recipe.rounds)
        self._recent: list[Any] = []
        self._first = 1  # the round of the oldest example kept
        self._releases: dict[Interval, Sanitized] = {}
        self.rounds = 0
        """The number of examples taken."""
        self.ledger: Ledger = ledger_for(recipe.costs(), delta=recipe.delta, private=rng.private)

    def observe(self, example: Any) -> None:
        """Take the next example (a point, or a pair with its label); release what it ends."""
        checked = self._checked(example)
        self._begin()
        if self.rounds >= self._recipe.rounds:
            self._break_off(HorizonExceededError(rounds=self._recipe.rounds))
        self._recent.append(checked)
        self.rounds += 1
        for interval in self._dyadic.closing_at(self.rounds):  # (L1)
            if _length(interval) >= self._recipe.shortest:  # (L2)
                self._release(interval)
        self._forget()
        self._end()

    def pieces(self, left: int, right: int) -> list[Piece]:
        """Return the dyadic intervals of rounds ``left`` to ``right``, with their releases."""
        require.integer(right=right, at_most=self.rounds)
        parts = self._dyadic.decompose(left, right)  # (L4)
        return [(part, self._releases.get(part)) for part in parts]

    def dataset(self, left: int, right: int) -> list[Any]:
        """Return the synthetic examples of all pieces, one after another.

        Departs from [P, Algorithm 5], which drops the last piece (docs/ERRATA.md, X1). Pieces that
        are too short have no examples.
        """
        return [
            example
            for interval, release in self.pieces(left, right)  # (L5)
            if release is not None
            for example in _synthetic(interval, release)
        ]

    def count(self, hypothesis: Hypothesis, left: int, right: int) -> float:
        """Estimate how many of these examples ``hypothesis`` maps to 1 (labels wrongly)."""
        return sum(
            _length(interval) * release.estimate(hypothesis)
            for interval, release in self.pieces(left, right)
            if release is not None
        )

    def flagged(self, hypothesis: Hypothesis, left: int, right: int) -> bool:
        """Return whether some piece flags the hypothesis; for realizable sanitizers."""
        return any(
            release.estimate(hypothesis) > 0
            for _, release in self.pieces(left, right)
            if release is not None
        )

    def _release(self, interval: Interval) -> None:
        sanitizer = self._recipe.sanitizers[_length(interval)]
        for cost in sanitizer.costs():
            self.ledger.charge(type(sanitizer).__name__, cost, first=interval[0], last=interval[1])
        examples = self._recent[interval[0] - self._first : interval[1] - self._first + 1]
        self._releases[interval] = sanitizer.release(examples, rng=self._rng)  # (L3)

    def _forget(self) -> None:
        """Drop the examples that no later interval reads."""
        longest = max(self._recipe.lengths, default=0)
        if longest == 0 or self.rounds % longest == 0:
            self._recent, self._first = [], self.rounds + 1

    def _checked(self, example: Any) -> Any:
        check = self._recipe.domain.check
        if not self._recipe.labelled:
            return check(example)
        [x], [y] = split_labels([example])
        return check(x), y


def _of(family: Family, size: int, levels: int) -> Sanitizer:
    """Call the caller's function and check that it returns a sanitizer."""
    sanitizer = family(size, levels)
    require_fit(f"family({size}, {levels})", sanitizer, Sanitizer)
    return sanitizer


def _refuse_other_points(sanitizer: Sanitizer, domain: Domain) -> None:
    """Raise if some point of ``domain`` is none for the sanitizer; its release would raise."""
    concepts = getattr(sanitizer, "concepts", None)
    if concepts is not None and concepts.domain not in (domain, AnyHashable()):
        raise ValueError(f"family must return sanitizers for {domain!r}, got {sanitizer!r}")


def _synthetic(interval: Interval, release: Sanitized) -> list[Any]:
    if isinstance(release, RealizableRelease):
        return release.hitting_set  # short, and all that a realizable release contains
    return release.dataset(_length(interval))


def _length(interval: Interval) -> int:
    return interval[1] - interval[0] + 1
