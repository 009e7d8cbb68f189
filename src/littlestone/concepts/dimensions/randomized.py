"""The randomized Littlestone dimension: the best expected mistake bound of any learner."""

from fractions import Fraction

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass


@require.checked
def randomized_littlestone_dimension(concepts: FiniteClass) -> Fraction:
    """Half the largest expected length of a random path in a tree that ``concepts`` shatters.

    The tree need not be complete [FHMM23]. A learner that predicts 1 with probability p at x pays
    p + R₀ on label 0 and 1 − p + R₁ on label 1; the best p makes that (1 + R₀ + R₁)/2 unless one
    side alone is worth more, and then a later point is at least as hard for the learner.
    Time grows with the number of version spaces that can arise: for small classes only.

    >>> randomized_littlestone_dimension(FiniteClass([[0, 0], [0, 1], [1, 1]]))
    Fraction(3, 4)
    """
    known: dict[int, Fraction] = {}

    def value(members: int) -> Fraction:
        found = known.get(members)
        if found is None:
            sides = {(members & zeros, members & ones) for zeros, ones in concepts.sides}
            splits = (pair for pair in sides if all(pair))
            found = max(((1 + value(a) + value(b)) / 2 for a, b in splits), default=Fraction(0))
            known[members] = found
        return found

    return value(concepts.version_space().members)
