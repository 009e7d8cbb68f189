"""The algorithm of a private learner, with its secrets, and how its state is saved and restored."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import SnapshotError
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.saved_run import SavedRun
from littlestone.randomness.noise_owner import NoiseOwner
from littlestone.type_checks import fits, hints_of, is_a

_FIRST_CHUNK, _CHUNK = 4, 256
_FIRST_BLOCK, _FEW, _GROWTH = 64, 8, 4


@runtime_checkable
class Part(Protocol):
    """A part of an engine that saves and loads its own state."""

    def state(self) -> Any:
        """Return what the part remembers."""

    def load(self, state: Any, /) -> None:
        """Restore what ``state`` returned."""


def fields_of(part: Any) -> tuple[Any, ...]:
    """Return what ``part`` and its parts remember, except randomness; it holds secrets."""
    if isinstance(part, NoiseOwner):
        part._require_usable()
    values = [getattr(part, name) for name, _ in _hinted_fields(type(part))]
    for place, value in enumerate(values):
        if _is_part(kind := type(value)):
            values[place] = value.state()
        elif _is_made_like_an_engine(kind):
            values[place] = fields_of(value)
    return tuple(values)


def load_fields(part: Any, state: tuple[Any, ...]) -> None:
    """Restore what ``fields_of`` returned, and continue there."""
    for (name, hint), value in zip(_hinted_fields(type(part)), state, strict=True):
        inner: Any = getattr(part, name, None)
        if inner is not None and _is_part(type(inner)):
            inner.load(value)
        elif inner is not None and _is_made_like_an_engine(type(inner)):
            load_fields(inner, value)
        elif type(value) is hint or fits(value, hint):
            setattr(part, name, value)
        else:
            raise SnapshotError(f"{name} of an engine cannot be {type(value).__name__}")
    if hasattr(part, "loaded"):
        part.loaded()


_is_part: Final[Callable[[Any], bool]] = cache(lambda kind: issubclass(kind, Part))


def _made_like_an_engine(kind: Any) -> bool:
    """Return whether it is a mutable dataclass that is constructed without its fields."""
    if issubclass(kind, SavedRun):  # its recipe constructs and restores it with all fields
        return False
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and not (parameters.init or parameters.frozen)


_is_made_like_an_engine: Final[Callable[[Any], bool]] = cache(_made_like_an_engine)
_hinted_fields: Final[Callable[[Any], list[tuple[str, Any]]]] = cache(
    lambda kind: [(field.name, hints_of(kind)[field.name]) for field in fields(kind)]
)


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
        points, labels = xs[start:end], ys[start:end].tolist()
        if isinstance(points, np.ndarray):
            points = map(tuple, points.tolist()) if points.ndim > 1 else points.tolist()
        yield from zip(points, labels, strict=True)
        start, end = end, end + min(2 * (end - start), _CHUNK)
