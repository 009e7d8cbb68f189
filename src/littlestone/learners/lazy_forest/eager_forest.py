"""Golowich and Livni's private learner: every tree updates at once (oblivious adversaries)."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, NamedTuple

from littlestone import require
from littlestone.concepts.json_form import one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import LittlestoneError
from littlestone.game.protocols import OnlineLearner, OnlineState, require_base
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.codec import register
from littlestone.learners.engine import Engine
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease, FrequentReleaseRun
from littlestone.randomness import Randomness

ROOT = 1


@register
@dataclass(slots=True)
class TournamentTree:
    """A complete binary tree; node v has the children 2v and 2v + 1, leaf i is leaves + i.

    ``pertinent`` holds the nodes that own a sequence, each as the state of the base learner after
    it. Every leaf has exactly one pertinent ancestor or is pertinent itself; a pertinent node of
    height r holds a sequence with at least r mistakes of the base learner.
    """

    leaves: int
    pertinent: dict[int, OnlineState]
    shown: int
    """The node whose hypothesis the tree displays; a root without a sequence displays none."""

    coins: Randomness = field(repr=False)

    @classmethod
    def fresh(cls, leaves: int, start: OnlineState, coins: Randomness) -> "TournamentTree":
        """Return a tree whose leaves all hold the base learner's first state."""
        return cls(leaves, dict.fromkeys(range(leaves, 2 * leaves), start), leaves, coins)

    @property
    def display(self) -> Hypothesis | None:
        """The displayed hypothesis; None once the tree is frozen."""
        state = self.pertinent.get(self.shown)
        return None if state is None or state.failed else one_form(state.hypothesis)

    def insert(self, leaf: int, x: Any, y: Label) -> None:
        """Give an example to the sequence above ``leaf``, and climb while siblings disagree."""
        node = self.leaves + leaf
        while node not in self.pertinent:
            node >>= 1
        state = self.pertinent[node]
        if node == ROOT or state.failed or state.hypothesis(x) == y:
            return
        self.pertinent[node] = state.after(x, y)
        climbed = False
        while self._siblings_disagree(node):
            node = self._play_tournament(node)
            climbed = True
        if climbed:
            self._choose_display()

    def _siblings_disagree(self, node: int) -> bool:
        mine, theirs = self.pertinent[node], self.pertinent.get(node ^ 1)
        if node == ROOT or theirs is None or mine.failed or theirs.failed:
            return False
        left, right = one_form(mine.hypothesis), one_form(theirs.hypothesis)
        # Unequal hypotheses may be the same function; they neither agree nor differ then.
        return left != right and left.disagreement(right) is not None

    def _play_tournament(self, node: int) -> int:
        """Guess the label of a point on which the siblings differ; move up the one that errs."""
        pair = [self.pertinent.pop(node & ~1), self.pertinent.pop(node | 1)]
        x = one_form(pair[0].hypothesis).disagreement(one_form(pair[1].hypothesis))
        y = self.coins.coin()
        erring = pair[0] if pair[0].hypothesis(x) != y else pair[1]
        self.pertinent[node >> 1] = erring.after(x, y)
        return node >> 1

    def _choose_display(self) -> None:
        """Display the root if it is pertinent, else a random agreeing pair, else freeze."""
        if ROOT in self.pertinent:
            self.shown = ROOT
            return
        agreeing = [
            node
            for node, state in sorted(self.pertinent.items())
            if node % 2 == 0 and not state.failed and self._agrees_with_sibling(node)
        ]
        self.shown = agreeing[self.coins.below(len(agreeing))] if agreeing else ROOT

    def _agrees_with_sibling(self, node: int) -> bool:
        theirs = self.pertinent.get(node + 1)
        if theirs is None or theirs.failed:
            return False
        return one_form(theirs.hypothesis) == one_form(self.pertinent[node].hypothesis)


_MOST_TREES: Final = 1 << 60
"""The largest count of a histogram."""
_MOST_LEAVES: Final = 1 << 24
_BEYOND: Final = 1000  # larger exponents are all too large


class TooManyTreesError(LittlestoneError):
    """Raised when a forest would need too many trees, or trees with too many leaves."""

    def __init__(self, *, trees: int, leaves: int) -> None:
        super().__init__(
            f"this forest cannot exist: it would have about 2^{math.log2(trees):.1f} trees of "
            f"2^{math.log2(leaves):.0f} leaves, because all guesses of a tree are so rarely right; "
            f"the limit is 2^60 trees of 2^24 leaves. EagerForest and FreshCopies suit dimensions "
            f"up to 5; use PrivateMajority for finite classes of any dimension"
        )
        self.trees = trees
        self.leaves = leaves


def leaves_for(base: OnlineLearner, given: int | None) -> int:
    """Return the given number of leaves, or enough for one level per mistake of ``base``."""
    if given is None:
        return 1 << min(max(1, base.mistake_bound), _BEYOND)
    require.integer(leaves=given, at_least=1, at_most=_MOST_LEAVES)
    return given


def trees_for(frequent: int, leaves: int) -> int:
    """Return how many trees let ``frequent`` of them guess all tournaments right, on average."""
    return frequent << min(leaves - 1, _BEYOND)


def refuse_too_large(trees: int, leaves: int) -> None:
    """Raise ``TooManyTreesError`` for a forest that cannot exist."""
    if trees > _MOST_TREES or leaves > _MOST_LEAVES:
        raise TooManyTreesError(trees=trees, leaves=leaves)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class EagerForest(Budgeted):
    """Grow a forest of tournament trees, and release a frequent hypothesis privately [GL21].

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta); per user (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a mistake of some
                    sequence takes longer
        Proof:      eager_forest.md

    Mistakes: O_d(log T) on oblivious streams [GL21], with constants that were not published;
    the defaults are calibrated for small dimensions. An adaptive adversary learns from the
    outputs where its examples went, and no bound holds against it: see ``FreshCopies``.
    ``mistake_bound`` is the number of rounds, whatever the base.
    """

    base: OnlineLearner | None = None
    trees: int | None = None
    leaves: int | None = None
    release: FrequentRelease | None = None
    """``trees``, ``leaves`` and ``release`` are calibrated for the horizon unless given."""
    failure_probability: float = 0.05
    """The probability that the watch of a calibrated release errs."""
    plan: "EagerPlan" = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(failure_probability=self.failure_probability)
        base = StandardOptimal(self.concepts) if self.base is None else self.base
        require_base(base, self.concepts)
        plan = self._planned(base)
        require.integer(trees=plan.trees, at_least=1)
        require.integer(leaves=plan.leaves, at_least=2)
        if plan.leaves & (plan.leaves - 1):
            raise ValueError(f"leaves must be a power of two, got leaves={plan.leaves!r}")
        self.check_within_budget(release=plan.release.guarantee())
        object.__setattr__(self, "plan", plan)

    def _planned(self, base: OnlineLearner) -> "EagerPlan":
        """Choose sizes for which the watch is accurate and every tree can reach its root.

        An element is listed when it beats the watch by its ``margin``. There are enough trees for
        the next element: when the watch fires, all trees that no longer display the old one have
        moved, a 2^(1 - leaves) share of them to the right place.
        """
        leaves = leaves_for(base, self.leaves)
        release = self._calibrated_release(base) if self.release is None else self.release
        trees = self.trees
        if trees is None:
            listed = release.histogram().certain_inclusion
            moved = trees_for(listed + 4 * math.isqrt(listed), leaves)  # four standard deviations
            trees = moved + release.rare_below + self._margin(release)
        return EagerPlan(base, trees, leaves, release)

    def _calibrated_release(self, base: OnlineLearner) -> FrequentRelease:
        selections = 2 * (base.mistake_bound + 1)
        draft = FrequentRelease(
            epsilon=self.epsilon, delta=self.delta, selections=selections, rare_below=1
        )
        margin = self._margin(draft)
        threshold = draft.histogram().noise_bound + 2 * margin + 2
        return replace(draft, rare_below=margin + 1, list_threshold=threshold)

    def _margin(self, release: FrequentRelease) -> int:
        """Bound the error of the watch, except with ``failure_probability``."""
        share = self.failure_probability / release.selections
        watch = release.watch()
        return math.ceil(watch.error_bound(queries=self.rounds, failure_probability=share))

    def refuse_to_start(self) -> None:
        """Raise ``TooManyTreesError`` if there are more trees than can be counted."""
        refuse_too_large(self.plan.trees, self.plan.leaves)

    def engine(self, rng: Randomness) -> "EagerForestEngine":
        return EagerForestEngine(self, rng)


class EagerPlan(NamedTuple):
    """The forest and its release, given or calibrated."""

    base: OnlineLearner
    trees: int
    leaves: int
    release: FrequentRelease


@register
@dataclass(slots=True)
class Forest:
    """Trees that are created when an example first reaches them, and what all trees display."""

    trees: int
    leaves: int
    base: OnlineLearner
    coins: Randomness
    grown: dict[int, TournamentTree] = field(default_factory=dict)
    shown: Counter[Hypothesis] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not self.shown and not self.grown:
            self.shown[one_form(self.base.start().hypothesis)] = self.trees

    def tree_and_leaf(self) -> tuple[int, int]:
        """Draw a random leaf of the forest."""
        return divmod(self.coins.below(self.trees * self.leaves), self.leaves)

    def insert(self, x: Any, y: Label) -> None:
        """Send an example to a random leaf of the forest."""
        index, leaf = self.tree_and_leaf()
        tree = self.grown.get(index)
        if tree is None:
            tree = TournamentTree.fresh(self.leaves, self.base.start(), self.coins)
            self.grown[index] = tree
        before = tree.display
        tree.insert(leaf, x, y)
        after = tree.display
        if after is not before and after != before:
            if before is not None:
                self.shown[before] -= 1
            if after is not None:
                self.shown[after] += 1


@dataclass(init=False, eq=False, repr=False)
class EagerForestEngine(Engine):
    """The forest, and the release that watches it."""

    _forest: Forest
    _release: FrequentReleaseRun
    ledger: Ledger

    def __init__(self, recipe: EagerForest, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._fallback = one_form(recipe.plan.base.start().hypothesis)

    def begin(self) -> None:
        """Plant the forest and start the release, with one charge."""
        plan, rng = self._recipe.plan, self._rng
        self._forest = Forest(plan.trees, plan.leaves, plan.base, rng)
        self._release = plan.release.start(self._forest.shown, rng=rng)
        self.ledger = Ledger(budget=self._recipe.budget, private=rng.private)
        self.ledger.charge("FrequentRelease", plan.release.guarantee(), first=1)

    @property
    def hypothesis(self) -> Hypothesis:
        """The released hypothesis, or the base learner's first one."""
        return self._release.published or self._fallback

    @property
    def halted(self) -> bool:
        """Whether all selections are used up."""
        return self._release.exhausted

    @property
    def status(self) -> str:
        """``learning``, or that no selection is left."""
        return "halted: no selection left; still publishing" if self.halted else "learning"

    def step(self, x: Any, y: Label) -> None:
        """Insert the example and let the release look at the forest."""
        self._forest.insert(x, y)
        self.idle(x)

    def idle(self, x: Any, /) -> None:
        """Let the release look at the unchanged forest."""
        self._release.step(self._forest.shown)
