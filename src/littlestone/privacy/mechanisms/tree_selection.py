"""Choose a decision tree with few errors, privately: the exponential mechanism over all trees.

Other candidates, linear rules for instance, may enter the same draw with their errors.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Branching
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.label_weights import LabelWeights
from littlestone.privacy.mechanisms.noise.exact import Bounds, Uniform, exp_bounds
from littlestone.privacy.mechanisms.tree_weights import Floats, Sample, TreeWeights, log_sum
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness

# The heaviest option of a node gets this many places; the others round up.
_GRID_BITS: Final = 128
# Allowed relative error of the floating-point weights (tree_selection.md, Section 3).
_TRUST: Final = Fraction(1, 1 << 38)
# Prior share of all other candidates together; docs/practice.md gives the reason.
OTHERS: Final = Fraction(1, 5)
_MOST_OTHERS: Final = 1 << 20
# For depth two: at most this many pairs of questions, but at least this many second ones.
_MOST_PAIRS: Final = 1 << 18
_FEWEST_SECOND: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSelection:
    """Draw a tree with probability proportional to prior(tree) * exp(-epsilon/2 * its errors).

    Under the prior, a node is a leaf or asks a question with probability 1/2 each (at the last
    depth it is a leaf), and all questions and all labels are equally likely. So among trees with
    equal errors, simpler ones are likelier. With very many fields, a tree of depth two takes its
    second questions from a random subset, chosen for each draw. ``draw_among`` also has other
    candidates, which share a fifth of the prior equally.

    Privacy (of each draw):
        Releases:   one tree, or the number of one of the others
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    honest-caller (the errors of each of the others move by one at most);
                    float-trust (docs/GUARANTEES.md); timing (docs/GUARANTEES.md): it grows with
                    the number of different records
        Proof:      tree_selection.md

    >>> from littlestone.concepts.classes.decision_trees import DecisionTrees
    >>> from littlestone.concepts.schema import Schema
    >>> from littlestone.randomness import seeded
    >>> trees = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 1)
    >>> sample = Sample.of({(0,): (50, 0), (2,): (0, 50)})
    >>> TreeSelection(trees=trees, epsilon=1.0).draw(sample, rng=seeded(1)).describe()
    '1 if delay >= 15 else 0'
    """

    trees: Branching
    epsilon: float

    def __post_init__(self) -> None:
        require.usual_fields(self)
        object.__setattr__(self, "epsilon", float_at_most(self.epsilon))

    @property
    def eta(self) -> Fraction:
        """The rate in the exponent, exactly."""
        return Fraction(self.epsilon) / 2

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one draw."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def draw(self, sample: Sample, *, rng: Randomness) -> DecisionTree:
        """Return one tree."""
        drawn = self.draw_among(sample, np.empty(0, dtype=np.int64), rng=rng)
        assert isinstance(drawn, DecisionTree)
        return drawn

    def draw_among(
        self, sample: Sample, others: NDArray[np.int64], *, rng: Randomness
    ) -> DecisionTree | int:
        """Return one tree or the index of another candidate, given the errors of those."""
        if len(others) > _MOST_OTHERS:
            raise ValueError(f"others must have at most {_MOST_OTHERS} entries, got {len(others)}")
        if len(sample.counts) != self._answers:
            raise ValueError(
                f"sample must have a row for each of {self._answers} labels, got "
                f"{len(sample.counts)}"
            )
        kind = TreeWeights if self._answers == 2 else LabelWeights
        weights = kind(self.trees, float(self.eta), self._second_questions(rng))
        among = _Others.of(others)
        options = weights.log_options(sample, self.trees.depth)
        logs = self._log_choices(log_sum(options), among)
        bound = self._log_bound(logs, sample)
        while True:
            proposal = _Proposal(weights, rng)
            number, errors = proposal.other(logs, among)  # (L1, L2)
            if number is None:
                drawn, errors = proposal.node(sample, self.trees.depth, options)  # (L1, L2)
            # prior / proposed * exp(-eta * errors) / bound is at most 1, for every candidate.
            ratio = proposal.prior / proposal.proposed
            exponent = self.eta * errors + bound
            if Uniform(rng).below(_Scaled(ratio, exponent)):  # (L3)
                return DecisionTree(self.trees.schema, drawn) if number is None else number

    @property
    def _answers(self) -> int:
        """The number of answers that a leaf may give."""
        return len(self.trees.schema.label_values)

    def _second_questions(self, rng: Randomness) -> NDArray[np.int64] | None:
        """Draw the questions below the root, independently of the data; None for all.

        The last question is always included: it may stand for the last rule.
        """
        questions = len(self.trees.conditions)
        count = max(_FEWEST_SECOND, _MOST_PAIRS // max(1, questions))
        if self.trees.depth != 2 or questions <= count:
            return None
        drawn = np.argsort(rng.words(questions - 1), kind="stable")[: count - 1]
        return np.append(np.sort(drawn), questions - 1)

    def _log_choices(self, trees: float, among: "_Others") -> Floats:
        """Return the weight of all trees, and of the other candidates by their errors."""
        if not among.size:
            return np.array([trees])
        others = (
            np.log(among.counts * (float(OTHERS) / among.size)) - float(self.eta) * among.levels
        )
        return np.concatenate([[trees + math.log(1 - OTHERS)], others])

    def _log_bound(self, logs: Floats, sample: Sample) -> Fraction:
        """ln M: no candidate weighs more than M times its probability of being proposed."""
        questions = len(self.trees.conditions)
        largest = float(self.eta) * sample.size + 16 + math.log1p(questions)
        terms = questions + len(logs) + self._answers - 2
        return Fraction(log_sum(logs)) + _TRUST * (math.ceil(largest) + terms)


@dataclass(frozen=True, slots=True)
class _Others:
    """The candidates that are not trees, grouped by their errors."""

    errors: NDArray[np.int64]
    levels: NDArray[np.int64]
    """All numbers of errors that occur."""
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, errors: NDArray[np.int64]) -> "_Others":
        counts = np.bincount(errors)
        levels = np.flatnonzero(counts)
        return cls(errors, levels, counts[levels])

    @property
    def size(self) -> int:
        return len(self.errors)


class _Proposal:
    """A proposed candidate (a tree from the root down) and its exact probability."""

    def __init__(self, weights: TreeWeights, rng: Randomness) -> None:
        self._weights, self._rng = weights, rng
        self.prior = Fraction(1)
        self.proposed = Fraction(1)

    def other(self, logs: Floats, among: _Others) -> tuple[int | None, int]:
        """Return the index of another candidate and its errors; None for a tree."""
        if not among.size:
            return None, 0
        option = self._choose(logs)
        if option == 0:
            self.prior *= 1 - OTHERS
            return None, 0
        errors = int(among.levels[option - 1])
        alike = np.flatnonzero(among.errors == errors)
        self.prior *= OTHERS / among.size
        self.proposed /= len(alike)
        return int(alike[self._rng.below(len(alike))]), errors

    def node(self, sample: Sample, depth: int, logs: Floats | None = None) -> tuple[Node, int]:
        """Return a node, a label or a question, and its errors."""
        if logs is None:
            logs = self._weights.log_options(sample, depth)
        option, answers = self._choose(logs), len(sample.counts)
        if option < answers:
            self.prior *= Fraction(1, (2 if len(logs) > answers else 1) * answers)
            return option, sample.errors(option)
        number = self._weights.question(option - answers, depth)
        self.prior *= Fraction(1, 2 * (len(logs) - answers))
        inside, outside = self._weights.parts(sample, number)
        holds, errors = self.node(inside, depth - 1)
        fails, more = self.node(outside, depth - 1)
        return (self._weights.trees.conditions[number], holds, fails), errors + more

    def _choose(self, logs: Floats) -> int:
        darts = self._darts(logs)
        ends = list(accumulate(darts))
        option = bisect_right(ends, self._rng.below(ends[-1]))
        self.proposed *= Fraction(darts[option], ends[-1])
        return option

    @staticmethod
    def _darts(logs: Floats) -> list[int]:
        """Round weights up to integers, so that every option stays possible."""
        places = np.exp(logs - logs.max()) * 2.0**_GRID_BITS
        return [int(place) + 1 for place in places.tolist()]


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The real number ratio * exp(-exponent), known to lie in [0, 1]."""

    ratio: Fraction
    exponent: Fraction

    def __call__(self, bits: int) -> Bounds:
        # A power of two brings the exponential into [0, 1], whatever the sign of its exponent.
        shift = max(0, math.ceil(-self.exponent * Fraction(10, 6)))
        ratio = self.ratio * (1 << shift)
        precision = bits + max(0, ratio.numerator.bit_length() - ratio.denominator.bit_length()) + 2
        low, high = _shifted_exp(self.exponent, shift, precision)
        scale = ratio / (1 << (precision - bits))
        return math.floor(low * scale), math.ceil(high * scale)


def _shifted_exp(exponent: Fraction, shift: int, bits: int) -> Bounds:
    """Bounds on 2**bits * exp(-exponent) / 2**shift."""
    if exponent >= 0:
        low, high = exp_bounds(exponent, bits + shift)
        return low >> shift, (high >> shift) + 1
    # 1 / exp(-|exponent|), with as many extra bits as the reciprocal can lose.
    guard = bits + 2 * shift + 2
    low, high = exp_bounds(-exponent, guard)
    one = 1 << (guard + bits)
    return (one // high) >> shift, (one // low + 1 >> shift) + 1
