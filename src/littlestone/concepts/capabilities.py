"""A concept class may offer capabilities beyond ``ConceptClass``; none is required.

A class without capabilities works, too: its concepts are listed, or its version space is
restricted. A class with a faster way has a method of one of these names. Callers test for the
capability, never for the class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Point

if TYPE_CHECKING:
    from littlestone.concepts.losses.answers import OnLines
    from littlestone.concepts.losses.label_counts import Tallied
    from littlestone.concepts.losses.loss_runs import LossRuns, Projection
    from littlestone.concepts.schema import Category, Cells, Condition, Numeric, Schema


@runtime_checkable
class Numbered(Protocol):
    """Finds the concept at a position of ``concepts()`` without listing those before it."""

    def concept(self, position: int, /) -> Hypothesis:
        """Return the concept at a position of ``concepts()``."""


@runtime_checkable
class Tabular(Protocol):
    """Tabulates the labels of some points under every concept."""

    def labels_at(self, points: Any, /) -> NDArray[np.uint8]:
        """Return one row for each concept, in the order of ``concepts()``."""


class Answers(Protocol):
    """The labels of points, given as rows of integers, under all concepts."""

    @property
    def width(self) -> int:
        """The number of integers in a row."""
        return 1

    def rows(self, points: Any, /) -> NDArray[np.int64]:
        """Return validated points as rows."""
        return np.asarray(points, dtype=np.int64).reshape(-1, self.width)

    def sums(self, rows: NDArray[np.int64], gains: NDArray[np.int64], /) -> NDArray[np.int64]:
        """Return, for each concept in ``concepts()`` order, the gains of the rows it maps to 1."""

    def says(self, position: int, rows: NDArray[np.int64], /) -> NDArray[np.bool_]:
        """Return the label of each row under one concept."""

    def forget(self) -> None:
        """Drop cached rows; the caller will not use them again."""
        return None


@runtime_checkable
class Answering(Protocol):
    """Sums gains over all concepts faster than concept by concept (``losses/answers.py``)."""

    def answers(self) -> Answers | None:
        """Return the answers, or None if they need too much memory."""


@runtime_checkable
class Stretched(Protocol):
    """Each concept is 1 on a stretch of one of a few lines.

    So a batch's losses follow from one histogram per line, in which an example changes one cell.
    """

    def on_lines(self) -> "OnLines | None":
        """Return the stretches, or None if some concepts have none or they need too much memory."""


@runtime_checkable
class Voting(Protocol):
    """Simplifies majority votes of concepts."""

    def majority_of(self, chosen: Sequence[int], /) -> Hypothesis:
        """Return the vote of an odd number of positions in ``concepts()``, with repetitions."""


@runtime_checkable
class InRuns(Protocol):
    """Losses are equal along long runs of concepts, so concepts are never listed."""

    def loss_runs(self, tally: "Tallied", /, *, deepest: int) -> "LossRuns":
        """Return the losses as ``loss_runs.losses_on`` does; for finite classes."""


@runtime_checkable
class Projecting(Protocol):
    """Knows the labellings of any points in closed form."""

    def project(self, points: Any, /) -> "Projection":
        """Return the labellings as ``projection.project`` does."""


class Tracker(Protocol):
    """Takes examples in canonical form and stores what later ones can contradict."""

    __slots__ = ()

    def observe(self, x: Any, y: Label, /) -> bool:
        """Return whether some concept fits this and all earlier examples."""

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        """Return how many leading examples of a block some concept fits with all earlier ones."""


@runtime_checkable
class Trackable(Protocol):
    """Checks consistency faster than a version space."""

    def tracker(self) -> Tracker:
        """Return a new consistency tracker."""


class Witnesses(Protocol):
    """How the mistakes of a version space's standard optimal hypothesis name witnesses.

    A witness is an example that the target concept must fit if the mistakes that name it are true.
    Mistakes at many different points can name the same witness, so a private learner can count
    them. On examples that fit some concept of the space, the true witnesses restrict it to a
    smaller dimension and keep that concept.
    """

    __slots__ = ()

    def count(self) -> int:
        """Return the number of witnesses; it is public and the same in every phase."""

    def named_by(self, space: Any, x: Any, y: Label, /) -> int:
        """Return the number of the one witness that this mistake names."""

    def example(self, space: Any, number: int, /) -> Example | None:
        """Return that witness; None if it contradicts every concept of the space."""

    def confusion(self, answered: int, /) -> tuple[int, int]:
        """Return how many witnesses can be false and how many true after ``answered`` true answers.

        Mistakes that fit some concept name only true witnesses.
        """

    def __hash__(self) -> int:
        return object.__hash__(self)


@runtime_checkable
class Witnessing(Protocol):
    """The mistakes of one phase alone name witnesses."""

    def witnesses(self) -> Witnesses | None:
        """Return the witnesses, or None if there are too many."""


@dataclass(frozen=True, slots=True)
class WitnessLoad:
    """How many counters of a witness system change, whatever the target concept."""

    accepted: int
    """The largest number of accepted true witnesses in an epoch without a false one."""
    counters: int
    """The number of live keys at a time; keys that no mistake named may be false."""
    again: int = 0
    """The number of live keys at a time that contradict an accepted witness."""
    further: int = 0
    """The counters that move after a false witness, besides ``accepted``, until the restart."""
    back: int | None = None
    """Without a restart: the witnesses accepted again after a false one, besides the one that
    undoes it."""
    astray: int = 0
    """The most counters that move in an epoch with a false place, if more than ``further``."""


class WitnessSystem(Protocol):
    """Public states, each with a hypothesis, and witnesses that cause transitions (witnesses.md).

    A mistake of a state's hypothesis names one of its *live* witnesses by its key. *Sound*: the
    target concept determines which keys are true; while only true witnesses are accepted, its
    examples name only true ones. *Descent*: after a bounded number of accepted witnesses no true
    one is left, or the system restarts. A key keeps its meaning while it is live, so its counter
    keeps its count.
    """

    __slots__ = ()

    def begin(self) -> Any:
        """Return the initial state; states are plain values."""

    def hypothesis(self, state: Any, /) -> Hypothesis:
        """Return the hypothesis of a state."""

    def live(self, state: Any, /) -> tuple[Point, ...]:
        """Return the keys that mistakes may name, in a fixed order."""

    def named_by(self, state: Any, x: Any, y: Label, /) -> Point:
        """Return the key of the one witness that this mistake names."""

    def after(self, state: Any, key: Point, /) -> Any | None:
        """Return the state after a witness is accepted; None to restart."""

    def loads(self) -> Sequence["WitnessLoad"]:
        """Return the possible loads of an epoch; the largest of them bounds its cost."""

    def __hash__(self) -> int:
        return object.__hash__(self)


@runtime_checkable
class PlacingSystem(WitnessSystem, Protocol):
    """A witness system whose first states search for a place instead of a witness.

    In these states PLACE is the only live key, and mistakes lie at public places: on a line, within
    a stretch that the target concept determines; in a cube, within a subcube. When PLACE fires, a
    place between the mistakes is drawn and accepted as the key (PLACE, place); it is true if it
    lies within the stretch or the subcube. Counts of a key stay valid while the key is live.
    """

    __slots__ = ()

    @property
    def sought(self) -> int:
        """The number of places that are drawn, one after another."""

    @property
    def places(self) -> int:
        """The number of places."""

    @property
    def renews(self) -> bool:
        """Whether a false key may become true later while it keeps its counter."""

    def place(self, state: Any, x: Any, /) -> int:
        """Return the place of this mistake."""

    def depths(self, places: list[int], /) -> tuple[list[int], list[int]]:
        """Return the depths of runs of places among these mistakes, and the lengths of the runs."""

    def place_at(self, places: list[int], position: int, /) -> int:
        """Return the place at a position of the concatenated runs."""


@runtime_checkable
class Descending(Protocol):
    """Has a witness system."""

    def witness_system(self) -> WitnessSystem | None:
        """Return the witness system, or None if it has too many keys."""


@runtime_checkable
class Placed(Protocol):
    """Has a second witness system, which searches for a place first."""

    def placed_system(self) -> PlacingSystem | None:
        """Return that system, or None if it is never better."""


@runtime_checkable
class Agreeing(Protocol):
    """Concepts that agree at one point shatter a deep tree, which proves floors."""

    def agreed(self) -> tuple[Example, int]:
        """Return an example and the depth of a tree shattered by concepts that fit it."""


@runtime_checkable
class FewOnes(Protocol):
    """No concept maps more than a few keys to 1, so that a histogram of keys sanitizes."""

    @property
    def most_ones(self) -> int:
        """The largest number of keys that a concept maps to 1."""


@runtime_checkable
class SetsOfKeys(Protocol):
    """The concepts are all sets of at most ``largest_set`` keys, 1 exactly on their keys."""

    @property
    def largest_set(self) -> int | None:
        """The largest number of keys in a concept; None if every finite set is a concept."""


@runtime_checkable
class OnALine(Protocol):
    """The points are 0 .. n-1, and the labels of a concept change only a few times along them."""

    @property
    def most_changes(self) -> int:
        """The largest number of label changes along the line."""


@runtime_checkable
class ProperlyOptimal(Protocol):
    """Every hypothesis of the standard optimal algorithm is a concept."""

    def differences(self) -> ConceptClass:
        """Return a class that holds h ⊕ g, 1 where they differ, for any two concepts h and g."""


@runtime_checkable
class WithMargin(Protocol):
    """A concept labels only points outside its margin."""

    def fits(self, concept: Hypothesis, x: Point, /) -> bool:
        """Return whether ``x``, labelled by ``concept``, may occur in a realizable stream."""


@runtime_checkable
class Records(Protocol):
    """A domain (not a class) whose points are records, stored as one cell per declared field."""

    @property
    def fields(self) -> "tuple[Numeric | Category, ...]":
        """The declared fields."""

    def check(self, x: Any, /) -> "Cells":
        """Return the cells of a record; raise a ValueError if it is not a record."""

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Return the cells of many records, or of a table (columns by field name)."""


@runtime_checkable
class WithConstants(Protocol):
    """Both constant functions are concepts."""

    def constant(self, label: Label, /) -> Hypothesis:
        """Return the concept with this label everywhere."""


@runtime_checkable
class Branching(Protocol):
    """The concepts are all trees of depth at most ``depth`` with questions from ``conditions``."""

    @property
    def schema(self) -> "Schema":
        """The declared fields of the records."""

    @property
    def depth(self) -> int:
        """The largest number of questions on a path."""

    @property
    def conditions(self) -> "tuple[Condition, ...]":
        """The conditions that a question may ask."""

    def holding(self, cells: NDArray[np.int64], dtype: Any = ..., /) -> NDArray[Any]:
        """Return whether each condition holds for each record, given by its cells."""


_POINTS: Final = 256


def agreeing(concepts: ConceptClass, most: int) -> tuple[Example, tuple[Hypothesis, ...]]:
    """Return an example and the concepts among the first ``most`` of the class that fit it.

    The example is the one that the class provides, or else the one among the first points of the
    domain that most concepts fit.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> example, found = agreeing(Points(4), 9)
    >>> example, [concept.describe() for concept in found]
    ((0, 0), ['0 everywhere', '1 on 1, 0 elsewhere', '1 on 2, 0 elsewhere', '1 on 3, 0 elsewhere'])
    """
    if isinstance(concepts, WithMargin):  # a point that fits one concept need not fit another
        only = concepts.version_space().consistent()
        x = next(x for x in concepts.domain if concepts.fits(only, x))
        return (x, only(x)), (only,)
    listed = list(islice(concepts.concepts(), most))
    if isinstance(concepts, Agreeing):
        example, _ = concepts.agreed()
    else:
        example = max(_examples(concepts), key=lambda example: len(_fitting(listed, example)))
    found = _fitting(listed, example)
    return example, tuple(found or [concepts.version_space().restrict(*example).consistent()])


def _examples(concepts: ConceptClass) -> list[Example]:
    return [(x, y) for x in islice(concepts.domain, _POINTS) for y in (0, 1)]


def _fitting(listed: list[Hypothesis], example: Example) -> list[Hypothesis]:
    x, y = example
    return [concept for concept in listed if concept(x) == y]
