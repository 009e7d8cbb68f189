"""The exact curve of FreshCopies: each release has coins of its own, so laws multiply."""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import NOTHING, ONE, UNIT, Mass
from littlestone.audit.exact.privacy_curve import PrivacyCurve, curve_between
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.two_worlds import Subject, TwoWorldAdversary
from littlestone.learners.golowich_livni.fresh_copies import FreshCopies
from littlestone.randomness import seeded

KEY = "a"
NEGLIGIBLE = Fraction(1, 1 << 90)
"""Far below e**-epsilon."""


def releases_of_all_rounds(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """A mistake, a mistake or none, and then only examples on which nobody errs.

    The first release sees one example. Each later one grows a forest anew from the same two, as
    far as they matter, so that releases are independent; where one lists nothing, what was shown
    before stays.
    """
    del adversary  # plays the first two of these rounds
    recipe: FreshCopies = subject.open(seeded(0))[0].recipe
    with enumerable():
        first = _release(recipe, (1,))
        zero, one = (
            _shown([first] + [_release(recipe, (1, label))] * (recipe.rounds - 1))
            for label in (1, 0)
        )
    return curve_between(zero, one)


def _release(recipe: FreshCopies, labels: tuple[int, ...]) -> Law:
    """Whether the key is listed first, or nothing, or something else, after these examples."""

    def play(tape: Tape) -> Hashable:
        engine = recipe.engine(tape)
        engine.begin()
        engine._examples.extend((KEY, label) for label in labels[:-1])
        nothing: Any = object()
        engine.hypothesis = nothing
        engine.step(KEY, labels[-1])
        return None if engine.hypothesis is nothing else engine.hypothesis(KEY)

    return law_of(play, rounds=1, negligible=int(NEGLIGIBLE * UNIT), most=100_000)


def _shown(releases: Sequence[Law]) -> Law:
    """What is published after each of these releases."""
    views: dict[Hashable, Mass] = {}
    for answers in product(*(release.views.items() for release in releases)):
        shown, mass, view = 0, ONE, []
        for answer, part in answers:
            shown, mass = shown if answer is None else answer, mass.times(part)  # type: ignore[assignment]
            view.append(shown)
        views[tuple(view)] = views.get(tuple(view), NOTHING).plus(mass)
    missing = sum(release.missing for release in releases)
    return Law(views, missing, sum(release.runs for release in releases))
