"""An online learner whose every predictor is the majority of a few concepts."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final

from littlestone import require
from littlestone.concepts.capabilities import ProperlyOptimal
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.online.sparse_majority_positions import (
    SLACK,
    LeafPosition,
    LeafWeights,
    ProperOptimal,
    ProperPosition,
)

_SMALLEST_MARGIN: Final = Fraction(1, 64)
_LARGEST_MARGIN: Final = Fraction(3, 8)
_RARE_PARTS: Final = 256


@dataclass(frozen=True, slots=True)
class SparseMajority:
    """Predict with the majority of at most ``votes`` concepts, an odd number, after [HLM21].

    Only mistakes change the state. Weights lie on subclasses, each with a distribution on its
    concepts (``OneClassGame``); the jury agrees with the mixture of these distributions wherever
    that gives a label more than 1/2 + ``margin``. Thresholds, points and sparse sets need one
    vote: there the standard optimal predictor is a concept. Other classes must fit in a table.

    On streams that no concept fits the learner continues: once all subclasses are ruled out it
    keeps its first predictor, so ``failed`` is never True.

    Mistakes: at most c(margin) * d, d the Littlestone dimension; at most d for the three classes.
              Proof: with z = ``rare`` and z' = z + SLACK, call a leaf right at (x, y) if its
              distribution gives y at least 1 - z'. On a mistake right leaves have at most the share
              (1/2 + margin)/(1 - z') of the weight, and every other leaf loses a dimension, hence
              all but z of its weight; so the total falls by 1 - (1 - z) f or more, where
              f = 1 - (1/2 + margin)/(1 - z'). But the sum of W(G) z**Ld(G) over the leaves that
              hold the target never falls below its first value z**d: a mistake keeps it, and in a
              split the target is in children of weight z or more, of smaller dimension. So the
              number of mistakes is at most d ln(1/z) / -ln(1 - (1 - z) f).
    Privacy:  none.
    Source:   [HLM21], reconstructed; [P, Lemma online_majority].

    >>> from littlestone.concepts.classes.finite import FiniteClass
    >>> learner = SparseMajority(FiniteClass([[0, 0, 1], [0, 1, 0], [1, 0, 0]]), margin=0.125)
    >>> learner.mistake_bound, learner.start().hypothesis.many([0, 1, 2]).tolist()
    (1, [0, 0, 0])
    >>> round(learner.mistake_factor, 2)
    7.17
    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> SparseMajority(Thresholds(2**40)).mistake_bound
    40
    """

    concepts: ConceptClass
    margin: float = 0.125
    _form: ProperOptimal | LeafWeights = field(init=False, repr=False, compare=False)

    conservative: ClassVar[bool] = True
    repeats_change_nothing: ClassVar[bool] = False
    """Only a mistake changes the state."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(margin=self.margin)
        if not _SMALLEST_MARGIN <= self.margin <= _LARGEST_MARGIN:
            raise ValueError(
                f"margin must lie between {_SMALLEST_MARGIN} and {_LARGEST_MARGIN}, "
                f"got margin={self.margin!r}"
            )
        if isinstance(self.concepts, ProperlyOptimal):
            object.__setattr__(self, "_form", ProperOptimal(self.concepts))
            return
        margin = Fraction(self.margin)
        rare, _ = best_rate(margin)
        object.__setattr__(self, "_form", LeafWeights(self.concepts, margin, rare))

    @property
    def mistake_bound(self) -> int:
        """At most ``mistake_factor`` times the dimension; less where all states can be visited."""
        return self._form.mistake_bound(self.mistake_factor)

    @property
    def mistake_factor(self) -> float:
        """c(margin): a bound on the mistakes per dimension."""
        return best_rate(Fraction(self.margin))[1]

    @property
    def votes(self) -> int:
        """The largest number of concepts in a predictor's majority."""
        return self._form.votes

    def start(self) -> "SparseMajorityState":
        """Return the state before any example."""
        return SparseMajorityState(self, self._form.start())

    def __reduce__(self) -> tuple[type["SparseMajority"], tuple[ConceptClass, float]]:
        return SparseMajority, (self.concepts, self.margin)


@dataclass(frozen=True, slots=True)
class SparseMajorityState:
    """The weights of the subclasses, up to a common factor."""

    learner: SparseMajority
    position: ProperPosition | LeafPosition

    @property
    def hypothesis(self) -> Hypothesis:
        """The majority of the jury for the weights."""
        return self.learner._form.hypothesis(self.position)

    @property
    def failed(self) -> bool:
        """False: there is a predictor for every stream."""
        return False

    @property
    def exhausted(self) -> bool:
        """Whether every subclass is ruled out; the predictor is then the first one for good."""
        return not self.position

    def after(self, x: Any, y: Label, /) -> "SparseMajorityState":
        """Return the state after one more example; only a mistake changes it."""
        point, label = self.learner.concepts.domain.check(x), require.label(y)
        if self.exhausted or self.hypothesis(point) == label:
            return self
        return SparseMajorityState(
            self.learner, self.learner._form.after_mistake(self.position, point, label)
        )


@lru_cache(maxsize=64)
def best_rate(margin: Fraction) -> tuple[Fraction, float]:
    """Return the ``rare`` in 256ths with the smallest c(margin), and that c, from above.

    >>> rare, factor = best_rate(Fraction(1, 20))
    >>> float(rare), round(factor, 2)
    (0.12890625, 5.29)
    """
    candidates = (Fraction(part, _RARE_PARTS) for part in range(1, _RARE_PARTS // 4))
    factors = [
        (factor, rare)
        for rare in candidates
        if (factor := mistakes_per_dimension_upper_bound(margin=margin, rare=rare)) is not None
    ]
    factor, rare = min(factors)
    return rare, factor


def mistakes_per_dimension_upper_bound(*, margin: Fraction, rare: Fraction) -> float | None:
    """Return c = ln(1/z) / -ln(1 - (1 - z) f), f = 1 - (1/2 + margin)/(1 - z'); None if f <= 0.

    >>> round(mistakes_per_dimension_upper_bound(margin=Fraction(1, 10), rare=Fraction(11, 100)), 2)
    6.45
    """
    share = 1 - (Fraction(1, 2) + margin) / (1 - rare - SLACK)
    if share <= 0:
        return None
    exact = -math.log(rare) / -math.log1p(-float((1 - rare) * share))
    return exact * (1 + 2.0**-40)
