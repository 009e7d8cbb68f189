"""List every name that a user may write, and what it means."""

from collections.abc import Mapping
from typing import Final

from littlestone.concepts.entry import ClassEntry, class_from_spec, every_class
from littlestone.game.adversaries.entry import AdversaryEntry, every_adversary
from littlestone.learners.entry import LearnerEntry, every_learner
from littlestone.registry import lookup

__all__ = ["ADVERSARIES", "CLASSES", "LEARNERS", "class_from_spec", "lookup"]

CLASSES: Final[Mapping[str, ClassEntry]] = every_class()
LEARNERS: Final[Mapping[str, LearnerEntry]] = {
    name: entry for name, entry in every_learner().items() if not entry.rank_only
}
ADVERSARIES: Final[Mapping[str, AdversaryEntry]] = every_adversary()
