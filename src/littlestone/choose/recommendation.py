"""Which learner, and why: the one that ``auto`` takes first, then the others by their bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from littlestone.choose.catalogue import LEARNERS
from littlestone.choose.ranking import (
    FAILURE,
    USEFUL_SHARE,
    Candidate,
    Question,
    Ranking,
    rank,
)
from littlestone.choose.request import Request
from littlestone.learners.run import PrivateLearner


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """All candidates, the one that is taken first, and a paragraph that explains the choice."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, str]
    rounds: int | None
    explanation: str

    @property
    def best(self) -> Candidate | None:
        """The learner that is taken unless another is named."""
        return self.candidates[0] if self.candidates else None

    @property
    def proved(self) -> Candidate | None:
        """The candidate with the smallest mean that is proved or calibrated."""
        known = [one for one in self.candidates if math.isfinite(one.expected)]
        return min(known, key=lambda one: (one.expected, one.bound), default=None)

    @property
    def useful(self) -> bool:
        """Whether some learner is expected to beat a constant rule by a clear margin."""
        best = self.proved
        return best is not None and best.expected <= USEFUL_SHARE * (self.rounds or 0)


def recommend(over: Any, **asked: Any) -> Recommendation:
    """Say which learner a request gets, and why; change nothing and spend nothing.

    Args:
        over: What is learned, or a whole ``Request``.
        asked: The fields of a ``Request``.

    >>> advice = recommend("thresholds:64", rounds=10**5, setting="realizable")
    >>> advice.best.name, advice.useful
    ('private-witnesses', True)
    """
    request = over if isinstance(over, Request) else Request(over=over, **asked)
    return recommendation_for(request)


def recommendation_for(request: Request) -> Recommendation:
    """The same for a request that was made before."""
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
    return rank(request.concepts, **_terms(request))


def _terms(request: Request) -> Any:
    names = ("rounds", "epsilon", "delta", "setting", "adversary")
    return {name: getattr(request, name) for name in names}


def _alike(candidate: Candidate, chosen: PrivateLearner) -> bool:
    each: list[Any] = [candidate.recipe, chosen]
    one, other = (replace(recipe, max_contributions=1) for recipe in each)
    return bool(one == other)


def _unproved(recipe: PrivateLearner) -> Candidate:
    """A learner that is taken for what it does, not for a bound in this setting."""
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
            f"it in this setting."
        )
        if proved is None:
            return practical
        return (
            f"{practical} With a bound: {proved.name}, {proved.expected:,.0f} {what} on average "
            f"{against}, of {draft.rounds:,} rounds ({proved.reason})."
        )
    if not draft.useful:
        assert proved is not None
        question = Question(request.concepts, _budget(request), *_against(request))
        advice = "; ".join(question.what_would_help(proved.name))
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


def _budget(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in ("rounds", "epsilon", "delta")}


def _against(request: Request) -> Any:
    return request.setting, request.adversary
