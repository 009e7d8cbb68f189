"""What a run of the service was asked to be: a request, a name, and when it is published."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from littlestone.choose.request import Request
from littlestone.errors import LittlestoneError
from littlestone.learners.run import PrivateLearner
from littlestone.service.entries import release_body
from littlestone.service.events import point_reader

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All of it is public, and chosen before any data."""

    name: str
    request: Request
    publish_every: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise ValueError(
                f"name must be small letters, digits, - and _, at most 64, got {self.name!r:.100}"
            )
        if self.publish_every is not None and not 0.01 <= self.publish_every <= 86_400:
            raise ValueError(
                f"publish_every must be from 0.01 to 86400 seconds, got {self.publish_every!r}"
            )

    @classmethod
    def from_json(cls, asked: Mapping[str, Any]) -> "Asked":
        """A request, in which a class must not be described by a file of the server, and more."""
        own = {name: asked[name] for name in ("name", "publish_every") if name in asked}
        rest = {name: value for name, value in asked.items() if name not in own}
        return cls(request=Request.from_json(rest, files=False), **own)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "publish_every": self.publish_every, **self.request.to_json()}

    def recipe(self) -> PrivateLearner:
        """Return the learner that answers the request, after it was tried.

        Raises:
            ValueError: No run of it can begin: some classes are found to be too large only then.
        """
        try:
            recipe = self.request.recipe()
            release_body(recipe.start().hypothesis, run="", number=1, round_number=0)
            point_reader(recipe.concepts.domain, "x")
        except LittlestoneError as refusal:  # there is no data yet: all of it is about the request
            raise ValueError(str(refusal)) from refusal
        return recipe
