"""Refute a privacy claim, or report the largest epsilon that the games refute."""

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from littlestone import require
from littlestone.audit.two_worlds import Deterministic, Subject, TwoWorldAdversary, World, play_once
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.tails import beta_quantile, binomial_upper_tail


def binomial_lower_bound(hits: int, trials: int, *, failure_probability: float) -> float:
    """Return a number below the success probability, except with ``failure_probability`` [CP34]."""
    if hits == 0:
        return 0.0
    bound = beta_quantile(hits, trials - hits + 1, failure_probability)
    return math.nextafter(bound, 0.0)


def epsilon_lower_bound(
    hits: int,
    neighbour_hits: int,
    *,
    games: int,
    failure_probability: float,
    delta: float = 0.0,
) -> float:
    """Return an epsilon that the counts refute at this ``delta``; 0 if they refute none.

    In each of ``games`` independent games a fair hidden bit chose the world. An event fixed in
    advance occurred ``hits`` times in one world and ``neighbour_hits`` times in the other, with
    probabilities p and q. Given that it occurs, the bit is the first world's with probability r = p
    / (p + q), and the number of such games is binomial. If p <= e^epsilon q + delta, then r <=
    (e^epsilon + delta / (p + q)) / (1 + e^epsilon). So exact lower bounds on r and on p + q refute
    every smaller epsilon. One bound on the ratio is sharper than two on its sides.

    Exceeds the true epsilon with probability at most ``failure_probability``.

    >>> round(epsilon_lower_bound(731, 269, games=2000, failure_probability=0.05), 3)
    0.881
    """
    require.integer(hits=hits, neighbour_hits=neighbour_hits, at_least=0)
    require.integer(games=games, at_least=max(hits + neighbour_hits, 1))
    require.open_probability(failure_probability=failure_probability)
    require.probability(delta=delta)
    happened = hits + neighbour_hits
    if happened == 0:
        return 0.0
    # The sum p + q matters only through delta, so it gets a small share of the failures.
    share = failure_probability / 8 if delta else 0.0
    ratio = binomial_lower_bound(hits, happened, failure_probability=failure_probability - share)
    if delta:
        both = 2 * binomial_lower_bound(happened, games, failure_probability=share)
        excess = ratio - delta / both if both else 0.0
    else:
        excess = ratio
    return max(0.0, math.log(excess / (1.0 - ratio))) if excess > 0 else 0.0


_FIRST_LOOK, _NEXT_LOOK = 10, 1.25


def guessing_lower_bound(
    right: int, guesses: int, *, games: int, failure_probability: float, delta: float = 0.0
) -> float:
    """Return an epsilon that ``right`` of ``guesses`` guesses refute at this ``delta``; 0 for none.

    In each game a fair hidden bit chose the world, and the player guessed it or passed. The number
    of guesses was fixed in advance; ``games``, and how each was played, may depend on the past.
    In one game, let p be the probability of a right guess and q that of a wrong one. The promise
    for both directions, added up, says p <= e^epsilon q + delta. So right guesses of probability at
    most delta can be set aside as luck, such that a guess without luck is right with probability
    at most r = e^epsilon / (1 + e^epsilon), whatever happened before. Hence ``right``
    is at most a binomial number of ``guesses`` chances r, and the number of lucky games. Games
    may overlap, if their learners' coins are independent: all that one of them shows is a
    function of a randomised response to its bit [VZ23].

    Exceeds the true epsilon with probability at most ``failure_probability``.

    >>> round(guessing_lower_bound(731, 1000, games=2000, failure_probability=0.05), 3)
    0.881
    """
    require.integer(right=right, at_least=0)
    require.integer(guesses=guesses, at_least=max(right, 1))
    require.integer(games=games, at_least=guesses)
    require.open_probability(failure_probability=failure_probability)
    require.probability(delta=delta)
    half = failure_probability / 2 if delta else 0.0
    lucky = _most_lucky(games, delta, half) if delta else 0
    return _refuted(right - lucky, guesses, failure_probability - half)


def _refuted(skilled: int, guesses: int, failure_probability: float) -> float:
    ratio = binomial_lower_bound(max(0, skilled), guesses, failure_probability=failure_probability)
    return max(0.0, math.log(ratio / (1.0 - ratio))) if ratio > 0 else 0.0


def _most_lucky(games: int, delta: float, failure_probability: float) -> int:
    """Bound the number of lucky games, for all numbers of games up to a power of two at once.

    A player decides how many games there are until the last guess.
    """
    power = games.bit_length()
    allowed = failure_probability / (power * (power + 1))
    lucky = 0
    while binomial_upper_tail(lucky, 1 << power, delta) > allowed:
        lucky += 1
    return lucky


class Guesses:
    """The guesses so far and an epsilon that they refute, valid at any stopping time.

    The bound is recomputed after 10 guesses and then after every quarter more; the j-th time it may
    fail with a share 1 / (j (j + 1)) of ``failure_probability``. With a delta, luck takes half of
    that probability, once for all times.

    >>> guesses = Guesses(delta=0.0, failure_probability=0.01)
    >>> for _ in range(40):
    ...     guesses.add(True)
    >>> round(guesses.bound, 2), guesses.next_look
    (1.31, 44)
    """

    def __init__(self, *, delta: float, failure_probability: float) -> None:
        require.probability(delta=delta)
        require.open_probability(failure_probability=failure_probability)
        self._delta, self.failure_probability = delta, failure_probability
        self.games, self.right, self.wrong = 0, 0, 0
        self.bound = 0.0
        self.next_look, self._looks = _FIRST_LOOK, 0

    @property
    def guesses(self) -> int:
        """The number of guesses."""
        return self.right + self.wrong

    def add(self, right: bool | None) -> None:
        """Record a game: the guess was right, wrong, or None."""
        self.games += 1
        if right is None:
            return
        if right:
            self.right += 1
        else:
            self.wrong += 1
        if self.guesses == self.next_look:
            self._look()

    def _look(self) -> None:
        self._looks += 1
        half = self.failure_probability / 2 if self._delta else 0.0
        lucky = _most_lucky(self.games, self._delta, half) if self._delta else 0
        allowed = (self.failure_probability - half) / self._looks / (self._looks + 1)
        self.bound = max(self.bound, _refuted(self.right - lucky, self.guesses, allowed))
        self.next_look = math.ceil(_NEXT_LOOK * self.next_look)


FIRST_STAGE = 500
MOST_RUNS = 10**8
"""The most games of an audit; with them a perfect attack proves an epsilon of about 17."""

Notices = tuple[Counter[Hashable], Counter[Hashable]]
"""The number of times each notice occurred, in world 0 and in world 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of an audit. It never says “private”."""

    subject: str
    adversary: str
    claimed: PrivacyGuarantee
    epsilon_lower_bound: float
    failure_probability: float
    runs: int
    seconds: float

    @property
    def violation(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower_bound > self.claimed.epsilon

    @property
    def verdict(self) -> str:
        """One sentence that claims no more than the numbers."""
        numbers = (
            f"epsilon is at least {self.epsilon_lower_bound:.3f} at delta = "
            f"{self.claimed.delta:g} (claimed {self.claimed.epsilon:g}; {self.runs} runs; this "
            f"sentence is wrong with probability at most {self.failure_probability:g})"
        )
        if self.violation:
            return f"VIOLATION: {numbers}"
        return f"no violation found up to here: {numbers}"


def audit(
    subject: Subject,
    adversary: TwoWorldAdversary,
    *,
    runs: int,
    rng: Randomness,
    failure_probability: float = 1e-4,
    progress: Callable[[int, float], None] | None = None,
) -> AuditReport:
    """Play up to ``runs`` games with a fair hidden bit and bound epsilon from below.

    Stages double in size. Each uses the events that looked best in the earlier stages, and only its
    own games count as evidence. The last stage, about half of all games, may fail with half of
    ``failure_probability``; stage j before it with a share 1 / (2 j (j + 1)); the two directions
    divide each share. So the bound is valid at any stopping time, and the audit stops at the first
    violation.
    """
    require.integer(runs=runs, at_least=4 * FIRST_STAGE, at_most=MOST_RUNS)
    require.open_probability(failure_probability=failure_probability)
    claimed = subject.claimed
    started = time.perf_counter()
    subject_rng, adversary_rng, bits = rng.spawn(3)

    def games(count: int) -> Notices:
        noticed: Notices = (Counter(), Counter())
        for bit in bits.below_many(2, count).tolist():
            noticed[bit][play_once(subject, adversary, bit, subject_rng, adversary_rng)] += 1
        return noticed

    earlier = games(FIRST_STAGE)
    played, stage, bound = FIRST_STAGE, 0, 0.0
    while played < runs and bound <= claimed.epsilon:
        stage += 1
        left = runs - played
        last = left < 3 * played  # a smaller stage after this one would waste its share
        fresh = games(left if last else played)
        played += left if last else played
        allowed = failure_probability / 2 if last else failure_probability / 2 / stage / (stage + 1)
        bound = max(bound, *_stage_bounds(earlier, fresh, claimed.delta, allowed / 2))
        for known, new in zip(earlier, fresh, strict=True):
            known.update(new)
        if progress is not None:
            progress(played, bound)
    return AuditReport(
        subject=subject.name,
        adversary=type(adversary).__name__,
        claimed=claimed,
        epsilon_lower_bound=bound,
        failure_probability=failure_probability,
        runs=played,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True, slots=True)
class OneExample(Deterministic):
    """Force mistakes at the first point, then one more or none, and watch the rule there.

    It uses nothing specific to the learner, so it is weak against learners that need many examples.
    """

    before: int
    after: int = 8

    def noticed(self, world: World) -> Hashable:
        """Return the rule's label of the point after the challenge."""
        point = next(iter(world.opening.recipe.concepts.domain))
        shown = world.opening.shown
        for _ in range(self.before):
            shown = world.send((point, 1 - shown.hypothesis(point)))
        said = shown.hypothesis(point)
        shown = world.challenge((point, said), (point, 1 - said))
        changes = [shown.hypothesis(point)]
        for _ in range(self.after):
            if changes[-1] != said:
                break
            changes.append(world.send((point, 1 - said)).hypothesis(point))
        return len(changes), changes[-1], shown.status


MOMENTS: Final = (0, 1, 4, 16)
"""Mistakes before the special round, in the games of ``learner``."""


@require.checked
def learner(
    recipe: PrivateLearner,
    *,
    runs: int = 20_000,
    rng: Randomness,
    failure_probability: float = 1e-4,
    progress: Callable[[int], None] | None = None,
) -> AuditReport:
    """Audit any learner: replace one example at several times and watch what it publishes.

    Args:
        recipe: the learner; the claim is its ``guarantee()``.
        runs: the total number of games, divided among the times.
        rng: the source of randomness.
        failure_probability: of the reported bound, divided among the times.
        progress: called with the number of games played.

    Returns:
        The report of the time that refutes most. Finding nothing proves nothing: a specific attack
        may find more (``littlestone.audit.TwoWorldAdversary``).

    >>> import littlestone as ls
    >>> recipe = ls.PrivateMajority(concepts=ls.Thresholds(8), rounds=100, epsilon=1.0)
    >>> ls.audit.learner(recipe, runs=8_000, rng=ls.seeded(1)).violation
    False
    """
    require.integer(runs=runs, at_least=4 * FIRST_STAGE * len(MOMENTS), at_most=MOST_RUNS)
    subject, reports, played = Subject.from_learner(recipe), list[AuditReport](), 0
    for moment, part in zip(MOMENTS, rng.spawn(len(MOMENTS)), strict=True):
        found = audit(
            subject,
            OneExample(before=moment),
            runs=runs // len(MOMENTS),
            rng=part,
            failure_probability=failure_probability / len(MOMENTS),
        )
        reports.append(found)
        played += found.runs
        if progress is not None:
            progress(played)
        if found.violation:
            break
    strongest = max(reports, key=lambda found: found.epsilon_lower_bound)
    return replace(
        strongest,
        failure_probability=failure_probability,
        runs=played,
        seconds=sum(found.seconds for found in reports),
    )


def _stage_bounds(
    earlier: Notices, fresh: Notices, delta: float, failure_probability: float
) -> tuple[float, float]:
    """Return the bounds of both directions, each on the event that earlier games suggest."""
    games = fresh[0].total() + fresh[1].total()

    def direction(often: int, rarely: int) -> float:
        event = telling_event(
            earlier[often], earlier[rarely], delta=delta, failure_probability=failure_probability
        )
        return epsilon_lower_bound(
            sum(fresh[often][notice] for notice in event),
            sum(fresh[rarely][notice] for notice in event),
            games=games,
            failure_probability=failure_probability,
            delta=delta,
        )

    return direction(0, 1), direction(1, 0)


def telling_event(
    often: Counter[Hashable],
    rarely: Counter[Hashable],
    *,
    delta: float,
    failure_probability: float,
) -> list[Hashable]:
    """Return the event (a set of notices) that promises the largest bound.

    By the Neyman–Pearson lemma only sets of the largest likelihood ratios need to be tried. These
    counts only select the event; they are not part of the evidence.
    """
    games = often.total() + rarely.total()
    ranked = sorted(often, key=lambda notice: (rarely[notice] + 0.5) / (often[notice] + 0.5))
    hits = np.cumsum([often[notice] for notice in ranked])
    neighbour_hits = np.cumsum([rarely[notice] for notice in ranked])
    pairs = zip(hits.tolist(), neighbour_hits.tolist(), strict=True)
    ratio = np.array([beta_quantile(a, b + 1, failure_probability) for a, b in pairs])
    excess = ratio - delta * games / (2 * (hits + neighbour_hits))
    promises = np.where(excess > 0, excess, 0.0) / (1.0 - ratio)
    return ranked[: int(promises.argmax()) + 1]
