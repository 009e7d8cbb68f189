"""Recommend a learner and explain it: the choice of ``auto`` first, the others by their bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from littlestone import require
from littlestone.choose.auto import FAILURE, USEFUL_SHARE, Candidate, Question, Ranking, rank
from littlestone.choose.catalogue import LEARNERS
from littlestone.choose.request import Request
from littlestone.concepts.schema import Numeric, Schema
from littlestone.learners.private_linear.recipe import MOST_PURE
from littlestone.learners.run import PrivateLearner
from littlestone.type_checks import is_a

# The product of rounds and epsilon from which gradient steps have time to settle.
_LONG: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """All candidates, the chosen one first, and a paragraph that explains the choice."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, str]
    rounds: int | None
    explanation: str

    @property
    def best(self) -> Candidate | None:
        """Return the learner that is chosen unless another is named."""
        return self.candidates[0] if self.candidates else None

    @property
    def proved(self) -> Candidate | None:
        """Return the candidate with the smallest proved or calibrated mean."""
        known = [one for one in self.candidates if math.isfinite(one.expected)]
        return min(known, key=lambda one: (one.expected, one.bound), default=None)

    @property
    def useful(self) -> bool:
        """Return whether some learner is expected to beat a constant rule by a clear margin."""
        best = self.proved
        return best is not None and best.expected <= USEFUL_SHARE * (self.rounds or 0)


@require.checked
def recommend(over: Any, **fields: Any) -> Recommendation:
    """Say which learner a request gets, and why; change nothing and spend nothing.

    Args:
        over: What is learned, or a whole ``Request``.
        fields: The fields of a ``Request``.

    >>> advice = recommend("thresholds:64", rounds=10**5, setting="realizable")
    >>> advice.best.name, advice.useful
    ('private-witnesses', True)
    """
    request = over if is_a(over, Request) else Request(over=over, **fields)
    return recommendation_for(request)


def recommendation_for(request: Request) -> Recommendation:
    """Recommend a learner for an existing request."""
    ranking = _ranking(request)
    try:
        chosen: PrivateLearner | None = request.recipe()
    except ValueError as refusal:
        chosen, ranking = None, replace(ranking, refused={**ranking.refused, "auto": str(refusal)})
    candidates = list(ranking.candidates)
    if chosen is not None:
        at = next((i for i, one in enumerate(candidates) if _alike(one, chosen)), None)
        first = _unproved(chosen) if at is None else candidates.pop(at)
        candidates.insert(0, first)
    draft = Recommendation(
        candidates=tuple(candidates), refused=ranking.refused, rounds=request.rounds, explanation=""
    )
    return replace(draft, explanation=_explained(draft, request))


def _ranking(request: Request) -> Ranking:
    if request.rounds is None:
        return Ranking(candidates=(), refused={"every other learner": "rounds are not declared"})
    return rank(_question(request))


def _question(request: Request) -> Question:
    budget = {name: getattr(request, name) for name in ("rounds", "epsilon", "delta")}
    against: Any = request.setting, request.adversary
    return Question(request.concepts, budget, *against)


def _alike(candidate: Candidate, chosen: PrivateLearner) -> bool:
    each: list[Any] = [candidate.recipe, chosen]
    one, other = (replace(recipe, max_contributions=1) for recipe in each)
    return bool(one == other)


def _unproved(recipe: PrivateLearner) -> Candidate:
    """Return a learner that is chosen for its performance, not for a bound in this setting."""
    kind = type(recipe).__name__
    name, entry = next((name, one) for name, one in LEARNERS.items() if one.makes == kind)
    return Candidate(
        name=name,
        recipe=recipe,
        bound=math.inf,
        expected=math.inf,
        calibrated=False,
        practical=entry.summary,
    )


def _linear_hint(request: Request) -> str:
    """Return when to try the linear learner, by public facts: the schema and the rounds."""
    if not isinstance(request.space, Schema) or request.learner != "auto":
        return ""
    fields = request.space.fields
    numbers = sum(isinstance(part, Numeric) for part in fields)
    weights = 1 + sum(1 if isinstance(part, Numeric) else part.cells for part in fields)
    long = request.rounds is not None and request.rounds * request.epsilon >= _LONG
    if not long or weights > MOST_PURE or 2 * numbers < len(fields):
        return ""
    return (
        " On a long stream whose few numbers add up, or whose law drifts, learner = 'linear' may "
        "make fewer mistakes."
    )


def _explained(draft: Recommendation, request: Request) -> str:
    best, proved = draft.best, draft.proved
    what = "mistakes" if request.setting == "realizable" else "mistakes beyond the best concept's"
    against = f"against {request.adversary} adversaries"
    if best is None:
        reasons = "; ".join(f"{name}: {why}" for name, why in draft.refused.items())
        return f"No learner applies to {request.space!r}. {reasons}"
    if best.practical:
        practical = (
            f"{best.name}: {best.reason}. Without assumptions on the stream no bound is proved for "
            f"it in this setting.{_linear_hint(request)}"
        )
        if proved is None:
            return practical
        return (
            f"{practical} With a bound: {proved.name}, {proved.expected:,.0f} {what} on average "
            f"{against}, of {draft.rounds:,} rounds ({proved.reason})."
        )
    if not draft.useful:
        assert proved is not None
        advice = "; ".join(_question(request).what_would_help(proved.name))
        return (
            f"No learner is shown to do better than a constant rule in {draft.rounds:,} rounds "
            f"{against} at epsilon = {request.epsilon:g}: the best, {proved.name}, may need "
            f"{proved.expected:,.0f} {what}. {advice or 'No affordable change was found.'}"
        )
    if best.calibrated:
        words = f"about {best.expected:,.0f} {what} on average {against}"
    else:
        words = (
            f"at most {best.bound:,.0f} {what} with probability {1 - FAILURE:.0%} {against}, "
            f"and {best.expected:,.0f} on average"
        )
    others = ", ".join(f"{c.name} {c.expected:,.0f}" for c in draft.candidates[1:])
    ranked = f" The others, on average: {others}." if others else ""
    return f"{best.name}: {words}, of {draft.rounds:,} rounds ({best.reason}).{ranked}"
