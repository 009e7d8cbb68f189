"""Golowich and Livni's private learner: every tree updates at once (oblivious adversaries)."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from littlestone import require
from littlestone.concepts.hypotheses.one_form import one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.codec import register
from littlestone.learners.engine import Engine
from littlestone.learners.golowich_livni.forest_size import (
    leaves_for,
    refuse_too_large,
    trees_for,
)
from littlestone.learners.golowich_livni.tournament_tree import TournamentTree
from littlestone.mechanisms.frequent_release import FrequentRelease, FrequentReleaseRun
from littlestone.online.protocols import OnlineLearner, require_base
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class EagerForest(Budgeted):
    """A forest of tournament trees and the private release of a frequent hypothesis [GL21].

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
    """These three are calibrated where they are not given, anew for every horizon."""
    failure_probability: float = 0.05
    """How often the watch of a calibrated release may err."""
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
        """Sizes for which the watch is accurate and every tree can reach its root.

        An element is listed when it beats the watch by its ``margin``. There are enough trees for
        the next element: when the watch fires, all trees but those that still show the old one
        have moved, a 2^(1 - leaves) share of them to the right place.
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
        """How far off the watch is at most, except with ``failure_probability``."""
        share = self.failure_probability / release.selections
        watch = release.watch()
        return math.ceil(watch.error_bound(queries=self.rounds, failure_probability=share))

    def refuse_to_start(self) -> None:
        """If there would be more trees than can be counted."""
        refuse_too_large(self.plan.trees, self.plan.leaves)

    def engine(self, rng: Randomness) -> "EagerForestEngine":
        return EagerForestEngine(self, rng)


class EagerPlan(NamedTuple):
    """What is grown, and how it is released: given or calibrated."""

    base: OnlineLearner
    trees: int
    leaves: int
    release: FrequentRelease


@register
@dataclass(slots=True)
class Forest:
    """Trees that exist only once an example has reached them, and what all of them show."""

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
        """A random leaf of the forest."""
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
        plan, rng = self._recipe.plan, self._rng
        self._forest = Forest(plan.trees, plan.leaves, plan.base, rng)
        self._release = plan.release.start(self._forest.shown, rng=rng)
        self.ledger = Ledger(budget=self._recipe.budget, private=rng.private)
        self.ledger.charge("FrequentRelease", plan.release.guarantee(), first=1)

    @property
    def hypothesis(self) -> Hypothesis:
        return self._release.published or self._fallback

    @property
    def halted(self) -> bool:
        return self._release.exhausted

    @property
    def status(self) -> str:
        return "halted: no selection left; still publishing" if self.halted else "learning"

    def step(self, x: Any, y: Label) -> None:
        self._forest.insert(x, y)
        self.idle(x)

    def idle(self, x: Any, /) -> None:
        self._release.step(self._forest.shown)
