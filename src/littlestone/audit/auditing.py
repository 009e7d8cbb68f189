"""Refute a privacy claim, or say up to where it could not be refuted."""

import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from littlestone import require
from littlestone.audit.epsilon_bound import epsilon_lower_bound
from littlestone.audit.two_worlds import Subject, TwoWorldAdversary, play_once
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

FIRST_STAGE = 500

Notices = tuple[Counter[Hashable], Counter[Hashable]]
"""How often each thing was noticed, in world 0 and in world 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found. It never says “private”."""

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
        """One sentence, as careful as the numbers."""
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
    """Play up to ``runs`` games, the hidden bit a fair coin, and bound epsilon from below.

    Stages double in size. In each, the events are those that looked best in all earlier stages,
    and only the stage's own games count as evidence. The last stage, about half of all games, may
    fail with half of ``failure_probability``; stage j before it with the part 1 / (2 j (j + 1));
    each part is shared by the two directions. So the bound is valid whenever one stops, and the
    audit stops at the first violation.
    """
    require.integer(runs=runs, at_least=4 * FIRST_STAGE)
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


def _stage_bounds(
    earlier: Notices, fresh: Notices, delta: float, failure_probability: float
) -> tuple[float, float]:
    """The bounds of both directions, each on the event that earlier games suggest."""
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
    """The event (a set of notices) that promises the largest bound.

    By the Neyman–Pearson lemma only sets of the largest likelihood ratios need to be tried. What
    each would prove is guessed from these counts; the guess is no part of the evidence.
    """
    games = often.total() + rarely.total()
    ranked = sorted(often, key=lambda notice: (rarely[notice] + 0.5) / (often[notice] + 0.5))
    hits = np.cumsum([often[notice] for notice in ranked])
    neighbour_hits = np.cumsum([rarely[notice] for notice in ranked])
    ratio = betaincinv(hits, neighbour_hits + 1, failure_probability)
    excess = ratio - delta * games / (2 * (hits + neighbour_hits))
    promises = np.where(excess > 0, excess, 0.0) / (1.0 - ratio)
    return ranked[: int(promises.argmax()) + 1]
