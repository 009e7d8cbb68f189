"""The learners of game two, each beside controls of the registry that look like it from outside.

A control differs from its learner in one line of its engine. Class, budget and thresholds are the
same, so nothing that is public before the first round tells which of them one plays against.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from littlestone.audit.registry import CONTROLS
from littlestone.audit.subjects import small_learners
from littlestone.audit.two_worlds import Subject
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A learner that keeps its promise, and controls that claim to be it."""

    title: str
    recipe: Any
    known: Callable[[Any], dict[str, int]]
    """Numbers of the recipe that an adversary aims with."""
    controls: tuple[str, ...]
    points: tuple[int | str, int | str] = ("a", "b")
    """Two to begin with."""

    @property
    def correct(self) -> Subject:
        return Subject.from_learner(self.recipe)

    @property
    def claimed(self) -> PrivacyGuarantee:
        guarantee: PrivacyGuarantee = self.recipe.guarantee()
        return guarantee

    @property
    def facts(self) -> dict[str, int]:
        return self.known(self.recipe)

    def chosen(self, wanted: str, rng: Randomness) -> tuple[Subject, str]:
        """Who plays, and the truth about it; ``coin`` means correct or broken, evenly."""
        if wanted not in WANTED:
            raise ValueError(f"wanted must be one of {', '.join(WANTED)}, got {wanted!r}")
        if wanted == "correct" or (wanted == "coin" and rng.coin()):
            return self.correct, "It was correct: no game can show more than the claim, but by luck"
        control = CONTROLS[self.controls[rng.below(len(self.controls))]]
        return control.subject, f"It was broken ({control.name}). {control.bug}"


WANTED: Final = ("correct", "broken", "coin")

SUSPECTS: Final = {
    "keys": Suspect(
        title="PrivateKeys: a list of reported keys",
        recipe=small_learners.key_list(1.0, 1e-3),
        known=lambda keys: {"reports": keys.reports, "complaints": keys.complaints},
        controls=("keys-true-count", "keys-noise-when-reported", "keys-one-noise"),
    ),
    "forest": Suspect(
        title="The paper’s forest: one key, released early",
        recipe=small_learners.early_forest(2.0, 1e-3),
        known=lambda forest: {
            "release": forest.first_frequent().threshold,
            "switch": forest.switch(forest.depth, 0).threshold,
        },
        controls=(
            "forest-timed-by-true-count",
            "forest-noise-skipped-when-correct",
            "forest-threshold-noise-reused",
        ),
    ),
    "majority": Suspect(
        title="PrivateMajority: one of the keys 0 and 1, or none",
        recipe=small_learners.fresh_majority(1.0, keys=2, share=0.5),
        known=lambda majority: {"mistakes": majority.planned.threshold},
        controls=("majority-counts-kept",),
        points=(0, 1),
    ),
}
