"""Publish one frequent element of a slowly changing list; only changes cost privacy."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from littlestone import require
from littlestone.concepts.json_form import canonical
from littlestone.concepts.protocols import Hypothesis
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold, AboveThresholdRun
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.saved_run import SavedRun
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentRelease:
    """Publish an element that many coordinates of a list show, until it has become rare.

    Privacy:
        Releases:   the published element after every step
        Neighbours: sequences of lists that all differ in the same one coordinate
        Adversary:  adaptive; the lists may depend on what was published
        Guarantee:  (epsilon, delta)
        Assumes:    nothing beyond its mechanisms
        Proof:      learners/lazy_forest/eager_forest.md, Section 2

    ``selections`` histograms and as many AboveThreshold instances share the budget; after the
    last one the element stays published.
    """

    epsilon: float
    delta: float
    selections: int
    rare_below: int
    """The published element is dropped once (noisily) fewer coordinates show it."""
    list_threshold: int | None = None
    watching_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(selections=self.selections, rare_below=self.rare_below, at_least=1)
        self.histogram()

    def histogram(self) -> PrivateHistogram:
        """Return the mechanism of one selection."""
        share = Fraction(self.epsilon) * (1 - self.watching_share) / self.selections
        return PrivateHistogram(
            epsilon=float_at_most(share),
            delta=float_at_most(Fraction(self.delta) / self.selections),
            threshold=self.list_threshold,
            neighbours="replace",
        )

    def watch(self) -> AboveThreshold:
        """Return the mechanism that detects when the published element has become rare."""
        share = Fraction(self.epsilon) * self.watching_share / self.selections
        return AboveThreshold(epsilon=float_at_most(share), threshold=-self.rare_below)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of one run."""
        return PrivacyGuarantee.rounded_up(epsilon=self.epsilon, delta=self.delta)

    def start(self, counts: Counter[Hypothesis], *, rng: Randomness) -> "FrequentReleaseRun":
        """Return a run that publishes an element of the first list, if any is frequent."""
        return FrequentReleaseRun(self, counts, rng)

    def restore(self, state: Any, *, rng: Randomness) -> "FrequentReleaseRun":
        """Continue a run from its ``state()``; each state may be continued once."""
        return FrequentReleaseRun.restored(self, state, rng)


@dataclass(init=False, eq=False, repr=False)
class FrequentReleaseRun(SavedRun):
    """The published element, and the watch over it."""

    published: Hypothesis | None
    selections: int
    _watch: AboveThresholdRun

    def __init__(
        self, recipe: FrequentRelease, counts: Counter[Hypothesis], rng: Randomness
    ) -> None:
        self._recipe, self._rng = recipe, rng
        self.published, self.selections = None, 0
        self._select(counts)

    @property
    def exhausted(self) -> bool:
        """Whether all selections are used and the last element has become rare."""
        return self.selections == self._recipe.selections and self._watch.halted

    def step(self, counts: Counter[Hypothesis]) -> None:
        """Read the new list; select again if the published element is rare in it."""
        if not isinstance(counts, Counter):
            raise ValueError(f"counts must be a Counter, got counts={require.shown(counts)}")
        self._begin()
        if not self.exhausted:
            shown = 0 if self.published is None else counts[self.published]
            if self._watch.ask(-shown) and self.selections < self._recipe.selections:
                self._select(counts)
        self._end()

    def _select(self, counts: Counter[Hypothesis]) -> None:
        self.selections += 1
        released = self._recipe.histogram().release(
            counts, rng=self._rng, order=random_order(counts, self._rng)
        )
        if released:
            self.published = canonical(max(released, key=released.__getitem__))
        self._watch = self._recipe.watch().start(rng=self._rng)


def random_order(counts: Counter[Hypothesis], rng: Randomness) -> Callable[[Hypothesis], int]:
    """Return a random rank for each key, since not every type of key can be sorted.

    An error about an unusual key would reveal that some tree has seen it. The coins come from their
    own stream, so that later ones do not depend on the number of keys.
    """
    places = rng.spawn(1)[0].permutation(len(counts)).tolist()
    return dict(zip(counts, places, strict=True)).__getitem__
