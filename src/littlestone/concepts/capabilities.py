"""A concept class may offer capabilities beyond ``ConceptClass``; none is required.

Everything works for a class that offers nothing, by listing its concepts or by restricting its
version space. A class that can do better has a method of one of these names. Callers look for the
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
    """Writes down at once what every concept says about some points."""

    def labels_at(self, points: Any, /) -> NDArray[np.uint8]:
        """Return one row for each concept, in the order of ``concepts()``."""


class Answers(Protocol):
    """What all concepts say about points that are written as rows of whole numbers."""

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return 1

    def rows(self, points: Any, /) -> NDArray[np.int64]:
        """Return validated points as rows."""
        return np.asarray(points, dtype=np.int64).reshape(-1, self.width)

    def sums(self, rows: NDArray[np.int64], gains: NDArray[np.int64], /) -> NDArray[np.int64]:
        """Return, for each concept in ``concepts()`` order, the gains of the rows it maps to 1."""

    def says(self, position: int, rows: NDArray[np.int64], /) -> NDArray[np.bool_]:
        """Return what one concept says of each row."""

    def forget(self) -> None:
        """No row made so far will be asked about again."""
        return None


@runtime_checkable
class Answering(Protocol):
    """Adds up what all concepts say faster than by asking them (``losses/answers.py``)."""

    def answers(self) -> Answers | None:
        """None where there would be too much to hold."""


@runtime_checkable
class Stretched(Protocol):
    """Each concept is 1 on a stretch of a line, of which there are few.

    So a batch's losses follow from one histogram for each line, of which one example moves a cell.
    """

    def on_lines(self) -> "OnLines | None":
        """None where some concepts are not, or there would be too much to hold."""


@runtime_checkable
class Voting(Protocol):
    """Knows a short form of majority votes of concepts."""

    def majority_of(self, chosen: Sequence[int], /) -> Hypothesis:
        """Of an odd number of positions in ``concepts()``, which may repeat."""


@runtime_checkable
class InRuns(Protocol):
    """Losses are equal along long runs of concepts, which are never listed."""

    def loss_runs(self, tally: "Tallied", /, *, deepest: int) -> "LossRuns":
        """As ``loss_runs.losses_on`` says; for finite classes."""


@runtime_checkable
class Projecting(Protocol):
    """Knows the labellings of any points in closed form."""

    def project(self, points: Any, /) -> "Projection":
        """As ``projection.project`` says."""


class Tracker(Protocol):
    """Takes examples in canonical form; remembers what later ones can contradict."""

    def observe(self, x: Any, y: Label, /) -> bool:
        """Return whether some concept fits this example and all before it."""

    def observe_many(self, xs: Any, ys: NDArray[Any], /) -> int:
        """Return how many leading examples of a block some concept fits, with all before."""


@runtime_checkable
class Trackable(Protocol):
    """Tells consistency faster than a version space can."""

    def tracker(self) -> Tracker:
        """Return a tracker that says whether some concept still fits."""


class Witnesses(Protocol):
    """How the mistakes of a version space's standard optimal hypothesis name witnesses.

    A witness is an example that the concept sought must fit if the mistakes that name it are to
    be believed. Mistakes of one phase that lie at many different points can name the same
    witness: this is what lets a private learner count them. On examples that fit some concept of
    the space, all true witnesses restrict it to a space that still holds the concept and has a
    smaller dimension.
    """

    def count(self) -> int:
        """Return how many can be named: public, the same in every phase."""

    def named_by(self, space: Any, x: Any, y: Label, /) -> int:
        """Return the number of the one witness that this mistake names."""

    def example(self, space: Any, number: int, /) -> Example | None:
        """Return that witness; None if it contradicts every concept of the space."""

    def confusion(self, answered: int, /) -> tuple[int, int]:
        """Return how many witnesses can be false, and how many true, after so many true answers.

        Mistakes that fit some concept only ever name true ones.
        """

    def __hash__(self) -> int: ...


@runtime_checkable
class Witnessing(Protocol):
    """One phase's mistakes say by themselves what to give up."""

    def witnesses(self) -> Witnesses | None:
        """None where they would be too many."""


@dataclass(frozen=True, slots=True)
class WitnessLoad:
    """How many counters of a witness system move, whichever concept is sought."""

    accepted: int
    """The most true witnesses that are accepted in an epoch in which no false one is."""
    counters: int
    """The keys that are live at a time; those that nobody named may be false."""
    again: int = 0
    """The keys that are live at a time and say that something accepted before was false."""
    further: int = 0
    """The counters that move after a false witness, beside ``accepted``, until all starts again."""
    back: int | None = None
    """If nothing starts again: the witnesses that are accepted again after a false one, beside the
    one that takes it back."""
    astray: int = 0
    """The most counters that move in an epoch with a false place, where ``further`` are too few."""


class WitnessSystem(Protocol):
    """Public states with a hypothesis each, and witnesses that move them on (witnesses.md).

    A mistake of a state's hypothesis names one of its *live* witnesses, told apart by keys.
    *Sound*: the concept sought fixes which keys are true, and as long as only true witnesses were
    accepted its examples name true ones only. *Descent*: every accepted witness leads on to fewer,
    so that after a bounded number of them no true one is left, or everything starts again. A key
    that stays live keeps its meaning, so a counter keeps its count.
    """

    def begin(self) -> Any:
        """Return the first state; states are plain values."""

    def hypothesis(self, state: Any, /) -> Hypothesis:
        """Return the hypothesis of a state."""

    def live(self, state: Any, /) -> tuple[Point, ...]:
        """Return the keys that mistakes may name, in a fixed order."""

    def named_by(self, state: Any, x: Any, y: Label, /) -> Point:
        """Return the key of the one witness that this mistake names."""

    def after(self, state: Any, key: Point, /) -> Any | None:
        """Return the next state, once a witness is accepted; None if all has to start again."""

    def loads(self) -> Sequence["WitnessLoad"]:
        """Return what an epoch may cost, for each kind of epoch that may be the dearest."""

    def __hash__(self) -> int: ...


@runtime_checkable
class PlacingSystem(WitnessSystem, Protocol):
    """A witness system that begins with states in which a place is sought, not a witness.

    There mistakes name PLACE, the one live key, and lie at public places: of a line, all within a
    stretch that the concept sought decides, or in a cube, all within a subcube. When PLACE fires, a
    place between them is drawn; it is true if it lies within the stretch or the subcube, and leads
    on as the key (PLACE, place). What was counted for a key stays true while the key is live.
    """

    @property
    def sought(self) -> int:
        """How many places are drawn, one after another."""

    @property
    def places(self) -> int:
        """How many there are."""

    @property
    def renews(self) -> bool:
        """Whether a key that is false may become true later, with the counter that it has."""

    def place(self, state: Any, x: Any, /) -> int:
        """Return where this mistake lies."""

    def depths(self, places: list[int], /) -> tuple[list[int], list[int]]:
        """Return the depths of runs of places among these mistakes, and the lengths of the runs."""

    def place_at(self, places: list[int], position: int, /) -> int:
        """Return the place at a position, if the runs are written out one after another."""


@runtime_checkable
class Descending(Protocol):
    """Has a witness system."""

    def witness_system(self) -> WitnessSystem | None:
        """None where it would have too many keys."""


@runtime_checkable
class Placed(Protocol):
    """Has a second witness system, which seeks a place first."""

    def placed_system(self) -> PlacingSystem | None:
        """None where that is never better."""


@runtime_checkable
class Agreeing(Protocol):
    """Concepts that agree at one point shatter a deep tree: what floors are proved with."""

    def agreed(self) -> tuple[Example, int]:
        """Return an example, and the depth of a tree that concepts which fit it shatter."""


@runtime_checkable
class FewOnes(Protocol):
    """No concept maps more than a few keys to 1, so that a histogram of keys sanitizes."""

    @property
    def most_ones(self) -> int:
        """The largest number of keys that a concept maps to 1."""


@runtime_checkable
class SetsOfKeys(Protocol):
    """The concepts are all sets of at most so many keys, each 1 on its keys and 0 elsewhere."""

    @property
    def largest_set(self) -> int | None:
        """None where every finite set is a concept."""


@runtime_checkable
class OnALine(Protocol):
    """The points are 0 .. n-1, and the labels of a concept change seldom from one to the next."""

    @property
    def most_changes(self) -> int:
        """The largest number of label changes along the line."""


@runtime_checkable
class ProperlyOptimal(Protocol):
    """Every hypothesis of the standard optimal algorithm, whatever was seen, is a concept."""

    def differences(self) -> ConceptClass:
        """Return a class that holds h ⊕ g, 1 where they differ, for any two concepts h and g."""


@runtime_checkable
class WithMargin(Protocol):
    """A concept stands for its labels only where they are clear."""

    def fits(self, concept: Hypothesis, x: Point, /) -> bool:
        """Return whether ``x``, labelled by ``concept``, may stand in a realizable stream."""


@runtime_checkable
class Records(Protocol):
    """A domain, not a class: points are records with declared fields, as cells of each."""

    @property
    def fields(self) -> "tuple[Numeric | Category, ...]":
        """The declared fields."""

    def check(self, x: Any, /) -> "Cells":
        """Return the cells of a record; raise a ValueError if it is none."""

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Also a table: the columns by the names of the fields."""


@runtime_checkable
class WithConstants(Protocol):
    """Both constant functions are concepts."""

    def constant(self, label: Label, /) -> Hypothesis:
        """Return the concept with this label everywhere."""


@runtime_checkable
class Branching(Protocol):
    """The concepts are all trees of so many questions in a row, each one of ``conditions``."""

    @property
    def schema(self) -> "Schema":
        """The declared fields of the records."""

    @property
    def depth(self) -> int:
        """The most questions in a row."""

    @property
    def conditions(self) -> "tuple[Condition, ...]":
        """The conditions that a question may ask."""

    def holding(self, cells: NDArray[np.int64], dtype: Any = ..., /) -> NDArray[Any]:
        """For each record, given by its cells, and each condition: whether it holds."""


_POINTS: Final = 256


def agreeing(concepts: ConceptClass, most: int) -> tuple[Example, tuple[Hypothesis, ...]]:
    """Return an example, and concepts that fit it: those among the first ``most`` of the class.

    The example is the one that the class names, or the one that most of them fit among the first
    points of the domain.

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
