"""The algorithm of a private learner, with its secrets, and how it is saved and continued."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import SnapshotError
from littlestone.mechanisms.saved_run import SavedRun
from littlestone.noise_owner import NoiseOwner
from littlestone.privacy.ledger import Ledger
from littlestone.type_checks import fits, hints_of

_CHUNK: Final = 256
_FIRST_BLOCK: Final = 64


@runtime_checkable
class Part(Protocol):
    """A part of an engine that has a form of its own for what it remembers."""

    def state(self) -> Any: ...

    def load(self, state: Any, /) -> None: ...


class Engine(ABC):
    """The algorithm itself. Points and labels reach it validated.

    An engine is a dataclass without ``__init__`` of its own kind: its fields are all that it
    remembers, and everything else follows from them and from the recipe. It is made without them,
    and then either begins or is loaded.
    """

    first_rounds: ClassVar[int] = 4
    """Of a list, so many rows are looked at first: 1 if something new comes in most rounds."""

    if TYPE_CHECKING:  # fields or properties; a property here would stand in a field's way
        # fmt: off
        @property
        def hypothesis(self) -> Hypothesis:
            """What is published for the coming round."""
        @property
        def ledger(self) -> Ledger: ...
        @property
        def halted(self) -> bool:
            """Whether nothing more will be learned (never); a function of what was published."""
        @property
        def status(self) -> str:
            """``learning``, or why it halted, in words; a function of what was published."""
        # fmt: on
    else:
        halted, status = False, "learning"

    @abstractmethod
    def begin(self) -> None:
        """Draw what is needed for the first hypothesis."""

    @abstractmethod
    def step(self, x: Any, y: Label, /) -> None:
        """Take one round. Never raises because of the data."""

    def idle(self, x: Any, /) -> None:
        """Take a round that has no example (docs/GUARANTEES.md, U); ``x`` is some public point.

        Whoever learns from mistakes alone learns nothing from a point on which what is published
        errs not; whoever counts more leaves the round out of what it counts.
        """
        self.step(x, self.hypothesis(x))

    def steps(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes or the block ends; how many."""
        published = self.hypothesis
        for taken, (x, y) in enumerate(single_rounds(xs, ys), start=1):
            self.step(x, y)
            if self.hypothesis is not published and self.hypothesis != published:
                return taken
        return len(ys)

    def follow(self, xs: Any, ys: Any, /) -> tuple[NDArray[np.uint8], int]:
        """Take the whole block: what was published said of each point, and how often it changed."""
        first = 1 if self.first_rounds == 1 else _FIRST_BLOCK
        said, switches, taken, most = np.empty(len(ys), dtype=np.uint8), 0, 0, first
        while taken < len(ys):
            rule = self.hypothesis
            if most == 1:
                x, y = round_at(xs, ys, taken)
                self.step(x, y)
                said[taken], count = rule(x), 1
            else:
                points = xs[taken : taken + most]
                count = self.steps(points, ys[taken : taken + most])
                said[taken : taken + count] = rule.many(points[:count])
            changed = rule is not self.hypothesis and rule != self.hypothesis
            # Some look at the whole block before they know how much of it they take.
            switches, most = switches + changed, first if changed else max(2 * most, _FIRST_BLOCK)
            taken += count
        return said, switches

    def loaded(self) -> None:  # noqa: B027 (often nothing follows from the fields)
        """Derive from the fields what is not one of them."""

    def state(self) -> tuple[Any, ...]:
        """Everything needed to continue, without the randomness source; secret."""
        return fields_of(self)

    def load(self, state: tuple[Any, ...]) -> None:
        """Go on where ``state`` was taken."""
        load_fields(self, state)


def fields_of(part: Any) -> tuple[Any, ...]:
    """What ``part`` remembers, and its parts do."""
    if isinstance(part, NoiseOwner):
        part._require_usable()
    return tuple([_saved(getattr(part, name)) for name, _ in _hinted_fields(type(part))])


def _saved(value: Any) -> Any:
    if _is_part(type(value)):
        return value.state()
    return fields_of(value) if _is_made_like_an_engine(type(value)) else value


def load_fields(part: Any, state: tuple[Any, ...]) -> None:
    """Give ``part`` back what ``fields_of`` told."""
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
    """Whether it is a dataclass that is made without its fields, and no value."""
    if issubclass(kind, SavedRun):  # made and restored by its recipe, with all its fields
        return False
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and not (parameters.init or parameters.frozen)


_is_made_like_an_engine: Final[Callable[[Any], bool]] = cache(_made_like_an_engine)
_hinted_fields: Final[Callable[[Any], list[tuple[str, Any]]]] = cache(
    lambda kind: [(field.name, hints_of(kind)[field.name]) for field in fields(kind)]
)


def round_at(xs: Any, ys: Any, place: int) -> tuple[Any, Label]:
    """One round of a block, as ``step`` takes it."""
    if not isinstance(xs, np.ndarray):
        return xs[place], int(ys[place])
    return tuple(xs[place].tolist()) if xs.ndim > 1 else xs.item(place), int(ys[place])


def single_rounds(xs: Any, ys: Any) -> Iterator[tuple[Any, Label]]:
    """One by one, as ``step`` takes them; only as much of the block is read as is taken."""
    for start in range(0, len(ys), _CHUNK):
        points, labels = xs[start : start + _CHUNK], ys[start : start + _CHUNK].tolist()
        if isinstance(points, np.ndarray):
            points = map(tuple, points.tolist()) if points.ndim > 1 else points.tolist()
        yield from zip(points, labels, strict=True)
