"""What a run of the service was asked to be: public values, from which its learner follows."""

import re
from dataclasses import dataclass, fields
from typing import Any, Final

from littlestone.catalogue import CLASSES, class_from_spec, lookup
from littlestone.concepts.capabilities import Branching
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.defaults import Choice
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import release_body
from littlestone.service.events import point_reader

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was asked to be: all of it public, and chosen before any data."""

    name: str
    concepts: str | None = None
    schema: dict[str, Any] | None = None
    learner: str = "auto"
    setting: str = "agnostic"
    adversary: str = "adaptive"
    rounds: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-7
    max_contributions: int = 1
    publish_every: float | None = None
    users: bool = False
    """Whether each event says whose it is, and ``max_contributions`` of each user are read."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                f"name must be small letters, digits, - and _, at most 64, got {self.name!r}"
            )
        if (self.concepts is None) == (self.schema is None):
            raise ValueError("exactly one of class and schema must be given")
        if self.publish_every is not None and not 0.01 <= self.publish_every <= 86_400:
            raise ValueError(
                f"publish_every must be from 0.01 to 86400 seconds, got {self.publish_every!r}"
            )

    def choice(self) -> Choice:
        """What its learner is chosen by; a class that a file on the server describes is refused."""
        space: ConceptClass | Schema
        if self.schema is not None:
            space = Schema.from_mapping(self.schema)
        else:
            spec = self.concepts or ""
            if str in lookup(CLASSES, spec.partition(":")[0], kind="class").arguments:
                raise ValueError(
                    f"class must not name a file of the server, got {spec!r}; send schema"
                )
            space = class_from_spec(spec)
        names = [field.name for field in fields(Choice) if field.name != "space"]
        return Choice(space=space, **{name: getattr(self, name) for name in names})

    @property
    def counted(self) -> str | None:
        """The field of an event that says whose it is, if users are counted."""
        return "user" if self.users else None

    def recipe(self) -> PrivateLearner:
        """The learner that is chosen by these values, after it was tried.

        ValueError if no run of it can begin: some classes are found to be too large only then.
        """
        choice = self.choice()
        if self._too_many_trees(choice.concepts):
            raise ValueError(
                "adversary must be 'oblivious' (events do not react to the rules), or setting "
                f"'realizable', for so large a schema, got adversary={self.adversary!r}"
            )
        recipe = choice.plan()
        release_body(recipe.start().hypothesis, run="", number=1, round_number=0)
        point_reader(recipe.concepts.domain, "x")
        return recipe

    def kept(self, form: str) -> PrivateLearner:
        """The learner that was chosen when the run was created."""
        return self.choice().kept(form)

    def _too_many_trees(self, space: ConceptClass) -> bool:
        """Whether the learner would have to list more trees than can be listed."""
        if not isinstance(space, Branching) or self.setting != "agnostic":
            return False
        try:
            space.concepts()
        except ValueError:
            return self.adversary == "adaptive" and self.learner == "auto"
        return False
