"""The algorithm of a private learner, with its secrets, and how its state is saved and restored."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import points_of
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.saved_run import fields_of, load_fields
from littlestone.type_checks import is_a

_FIRST_CHUNK, _CHUNK = 4, 256
_FIRST_BLOCK, _FEW, _GROWTH = 64, 8, 4


class Engine(ABC):
    """The algorithm itself; points and labels reach it validated.

    An engine is a dataclass whose fields are all that it remembers; everything else follows from
    them and the recipe. It is constructed without its fields, and then either begins or is loaded.
    """

    first_rounds: ClassVar[int] = 4
    """How many rows of a list are read first; 1 if most rounds publish a new hypothesis."""

    if TYPE_CHECKING:  # fields or properties of engines; a property here would block a field
        # fmt: off
        @property
        def hypothesis(self) -> Hypothesis:
            """The hypothesis published for the next round."""
        @property
        def ledger(self) -> Ledger:
            """The charges for everything released so far."""
        @property
        def halted(self) -> bool:
            """Whether nothing more will be learned; a function of what was published."""
        @property
        def status(self) -> str:
            """``learning``, or why it halted, in words; a function of what was published."""
        # fmt: on
    else:
        halted, status = False, "learning"

    @abstractmethod
    def begin(self) -> None:
        """Draw what the first hypothesis needs."""

    @abstractmethod
    def step(self, x: Any, y: Label, /) -> None:
        """Take one round; never raise because of the data."""

    def idle(self, x: Any, /) -> None:
        """Take a round without an example (docs/GUARANTEES.md, U); ``x`` is a public point.

        The default feeds a correctly predicted point, from which a learner that learns from
        mistakes alone learns nothing. Engines that count more override it.
        """
        self.step(x, self.hypothesis(x))

    def steps(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes or the block ends; return how many."""
        published = self.hypothesis
        for taken, (x, y) in enumerate(single_rounds(xs, ys), start=1):
            self.step(x, y)
            if self.hypothesis is not published and self.hypothesis != published:
                return taken
        return len(ys)

    def follow(self, xs: Any, ys: Any, /) -> tuple[NDArray[np.uint8], int]:
        """Take the whole block.

        Returns:
            The published hypothesis's prediction in each round, and how often it changed.
        """
        predictions, switches = np.empty(len(ys), dtype=np.uint8), 0
        taken, most = 0, 1 if self.first_rounds == 1 else _FIRST_BLOCK
        while taken < len(ys):
            rule = self.hypothesis
            if most < _FEW:  # a block has a fixed cost
                x, y = round_at(xs, ys, taken)
                self.step(x, y)
                predictions[taken], count = rule(x), 1
            else:
                points = xs[taken : taken + most]
                count = self.steps(points, ys[taken : taken + most])
                predictions[taken : taken + count] = rule.many(points[:count])
            changed = rule is not self.hypothesis and rule != self.hypothesis
            # Some engines evaluate the whole block before they know how much of it they take.
            switches, most = switches + changed, count if changed else _GROWTH * most
            taken += count
        return predictions, switches

    def loaded(self) -> None:  # noqa: B027 (often nothing follows from the fields)
        """Derive what is not a field from the fields, after loading."""

    state = fields_of
    load = load_fields


def round_at(xs: Any, ys: Any, place: int) -> tuple[Any, Label]:
    """Return one round of a block in the form that ``step`` takes."""
    if not is_a(xs, np.ndarray):
        return xs[place], int(ys[place])
    return tuple(xs[place].tolist()) if xs.ndim > 1 else xs.item(place), int(ys[place])


def single_rounds(xs: Any, ys: Any) -> Iterator[tuple[Any, Label]]:
    """Yield the rounds of a block one by one, reading little more of it than is taken."""
    start, end = 0, _FIRST_CHUNK
    while start < len(ys):
        yield from zip(points_of(xs[start:end]), ys[start:end].tolist(), strict=True)
        start, end = end, end + min(2 * (end - start), _CHUNK)
