"""What a run of the service was asked to be: public values, from which its learner follows."""

import re
from dataclasses import dataclass
from typing import Any, Final

from littlestone.choose.request import NAMES, Request
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError, StoreError
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.service.entries import release_body
from littlestone.service.events import point_reader

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was asked to be: all of it public, and chosen before any data.

    With ``user``, a word for whose events are counted, each event says whose it is, and
    ``max_contributions`` of each user are read.
    """

    name: str
    concepts: str | None = None
    schema: dict[str, Any] | None = None
    learner: str = "auto"
    setting: str = "agnostic"
    adversary: str = "oblivious"
    rounds: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-6
    max_contributions: int = 1
    user: str | None = None
    publish_every: float | None = None

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

    def request(self) -> Request:
        """The part that its learner follows from; a class in a file of the server is refused."""
        said = {name: getattr(self, name) for name in NAMES}
        over = {"schema": self.schema, "class": self.concepts}
        return Request.from_json({**over, **said}, files=False)

    def recipe(self) -> PrivateLearner:
        """The learner that answers the request, after it was tried.

        ValueError if no run of it can begin: some classes are found to be too large only then.
        """
        try:
            recipe = self.request().recipe()
            release_body(recipe.start().hypothesis, run="", number=1, round_number=0)
            point_reader(recipe.concepts.domain, "x")
        except LittlestoneError as refusal:  # there is no data yet: all of it is about the request
            raise ValueError(str(refusal)) from refusal
        return recipe

    def kept(self, form: str) -> PrivateLearner:
        """The learner that was chosen when the run was created, whatever would be chosen today.

        StoreError if it is not one that these values could have chosen.
        """
        recipe, request = recipe_from_form(form), self.request()
        over = recipe.concepts.domain if isinstance(request.space, Schema) else recipe.concepts
        terms: dict[str, tuple[Any, Any]] = {"class": (request.space, over)}
        for name in ("rounds", "epsilon", "delta", "max_contributions"):
            asked = getattr(self, name)
            terms[name] = (asked, getattr(recipe, name, asked))
        if self.learner != "auto":
            terms["learner"] = (type(request.recipe()).__name__, type(recipe).__name__)
        budget, cost = PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta), recipe.per_example
        terms["budget"] = (budget, budget if cost.within(budget) else cost)
        for name, (asked, held) in terms.items():
            if asked != held:
                raise StoreError(
                    f"{name} must be what the run was created with, {held!s:.200}, got "
                    f"{asked!s:.200}"
                )
        return recipe
