"""Feed events to a run: check them once, read them in blocks, and count for the owner."""

import json
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import Branching, Records, SetsOfKeys
from littlestone.concepts.domain import block_of
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Domain, Label, Point
from littlestone.concepts.schema import label_values
from littlestone.errors import StoreError
from littlestone.learners.engine import single_rounds
from littlestone.learners.run import PrivateLearner, PrivateRun
from littlestone.runs.intake.event import Event, EventBlock
from littlestone.runs.intake.users import CountedUsers, canonical_users
from littlestone.runs.journal.records import Checkpoint, Group, as_point, body_of, canonical_body

_REMEMBERED: Final = 1 << 16


class Intake:
    """Check events over a domain; ``digests`` hashes names of users where users are counted."""

    def __init__(
        self, domain: Domain, digests: Callable[[Sequence[str]], list[bytes]] | None
    ) -> None:
        self._domain, self._digests = domain, digests
        self._label_count = len(label_values(domain))
        self._bodies: dict[bytes, tuple[str, bytes]] = {}
        cells = [part.cells for part in domain.fields] if isinstance(domain, Records) else [0]
        self._cell: Any = np.uint16 if max(cells) <= 1 << 16 else np.int64

    def checked(self, events: Sequence[Event], *, first: int) -> Group:
        """Return the events as they are logged; reject the first bad one by name."""
        if isinstance(events, EventBlock):
            return self._block(events, first)
        if len(events) == 1 and type(events[0].x) is int:  # needs neither a block nor JSON
            (event,) = events
            if type(event.id) is not str or not event.id or not event.id.isascii():
                refuse_unwritable([event.id])
            canonical = event.example
            if canonical is None or type(canonical[0]) is not int or canonical[0] != event.x:
                canonical = self._domain.check(event.x), self._label(event)
            body, digest = canonical_body(*canonical)
            counted = event.user is not None or self._digests is not None
            users = self._users(events) if counted else ()
            return Group(first, [event.id], [digest], [body], users, [canonical[0]], [canonical[1]])
        try:
            points = [as_point(event.x) for event in events if event.example is None]
        except RecursionError:
            raise ValueError("x must not have lists in lists without end") from None
        self._domain.check_many(points)
        ids = [event.id for event in events]
        refuse_unwritable(ids)
        bodies = [
            body_of(event.x, self._label(event))
            if event.example is None or event.example[0] is not event.x
            else canonical_body(*event.example)
            for event in events
        ]
        texts, digests = zip(*bodies, strict=True) if bodies else ((), ())
        examples = [event.example for event in events if event.example is not None]
        whole = 0 < len(examples) == len(events)
        group = Group(first, ids, digests, texts, self._users(events, canonical=whole))
        if not whole:
            return group
        points, labels = map(list, zip(*examples, strict=True))
        return replace(group, points=points, labels=labels)

    def _block(self, block: EventBlock, first: int) -> Group:
        """Return events that were checked as a block."""
        refuse_unwritable(block.ids)
        if (block.users is None) != (self._digests is None):
            self._users(block)  # says what is wrong
        users = [] if self._digests is None else self._digests(block.users or ())
        bodies, digests = self._written(np.column_stack([block.points, block.labels]))
        return Group(first, block.ids, digests, bodies, users, block.points, block.labels)

    def _written(self, rows: NDArray[np.int64]) -> tuple[list[str], list[bytes]]:
        """Return the bodies and digests of rows of cells with a label behind; most come again."""
        known = self._bodies
        short = rows.astype(self._cell)
        keys = short.view(f"V{short.itemsize * short.shape[1]}").ravel().tolist()
        found = list(map(known.get, keys))
        if None in found:
            for place in [place for place, body in enumerate(found) if body is None]:
                *cells, label = rows[place].tolist()
                found[place] = known[keys[place]] = body_of(tuple(cells), label)
            if len(known) > _REMEMBERED:
                known.clear()
        bodies, digests = zip(*found, strict=True)
        return list(bodies), list(digests)

    def _label(self, event: Event) -> Label:
        return require.label(event.y, count=self._label_count)

    def _users(self, events: Sequence[Event], *, canonical: bool = False) -> list[bytes]:
        """Return the digests of the users of the events, where users are counted."""
        users: list[Any] = [event.user for event in events]
        if self._digests is None:
            if [user for user in users if user is not None]:
                raise ValueError(
                    "user must be None where users are not counted; start the run with users= to "
                    "count them"
                )
            return []
        if [user for user in users if user is None]:  # pandas.NA has no answer to ==
            raise ValueError("user must be given where users are counted, got user=None")
        return self._digests(users if canonical else canonical_users(users))


def refuse_unwritable(ids: Sequence[Any]) -> None:
    """Reject ids with half of a surrogate pair, which cannot be stored."""
    try:
        "".join(ids).encode()  # before they are asked whether they are empty: they are text now
        if all(ids):
            return
    except (TypeError, UnicodeEncodeError):
        pass
    bad = next(name for name in ids if not isinstance(name, str) or not name or _halved(name))
    raise ValueError(f"id must be a non-empty string, got id={bad!r}")


def _halved(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


MOST_CONCEPTS: Final = 1 << 14
_TOGETHER: Final = 1024

Counts = NDArray[np.int64]


class Hindsight(NamedTuple):
    """The fewest mistakes of a constant, and of a rule of the kind that ``rules`` names, if any."""

    constant: str | int
    constant_mistakes: int
    rules: str
    rule_mistakes: int | None
    list_all_mistakes: int | None = None
    """For sets of keys: the mistakes of listing every key. The constant then lists none."""

    def lines(self, mistakes: int) -> list[str]:
        """Return the baselines in words, beside the mistakes that were made."""
        lines = [f"always {self.constant}: {self.constant_mistakes:,} mistakes (the best constant)"]
        if self.list_all_mistakes is not None:
            lines = [
                f"list no key: {self.constant_mistakes:,} mistakes",
                f"list all keys: {self.list_all_mistakes:,} mistakes",
            ]
        if self.rule_mistakes is None:
            lines.append(f"the best rule in hindsight is not known: {self.rules}")
        else:
            lines.append(f"the best of {self.rules}: {self.rule_mistakes:,} mistakes")
        if mistakes > self.constant_mistakes:
            than = "a constant" if self.list_all_mistakes is None else "an empty list"
            lines.append(
                f"WARNING: {mistakes:,} mistakes are more than {than} makes: more events, a larger "
                f"epsilon, or another learner, schema or class may help"
            )
        return lines


class Baselines:
    """Count what was read, as a baseline for the owner; saved with the checkpoints.

    The counts depend on the labels and are not protected: they are for the owner and never
    published. Memory does not grow with the stream: there is a count for each label and for each
    rule of a class that can be enumerated; for trees, a count for each cell of each field, which is
    enough for rules with one question.
    """

    def __init__(self, concepts: ConceptClass, saved: bytes | None = None) -> None:
        self._concepts = concepts
        self._waiting: tuple[list[Point], list[Label]] = ([], [])
        self._values = label_values(concepts.domain)
        self._labels = np.zeros(len(self._values), dtype=np.int64)
        self._cells: Counts = np.zeros((0, len(self._values)), dtype=np.int64)
        self._starts: Counts = np.zeros(0, dtype=np.int64)
        self._losses: LossTable | None = None
        size = concepts.size
        if isinstance(concepts, Branching):
            widths = [part.cells for part in concepts.schema.fields]
            self._starts = np.cumsum([0, *widths])
            self._cells = np.zeros((int(self._starts[-1]), len(self._values)), dtype=np.int64)
        elif size is not None and size <= MOST_CONCEPTS:
            self._losses = LossTable(concepts)
        if saved is not None:
            self._load(saved)

    def add(self, x: Point, y: Label) -> None:
        """Count one example that was read."""
        self._waiting[0].append(x)
        self._waiting[1].append(y)
        if len(self._waiting[1]) >= _TOGETHER:
            self._count()

    def add_block(self, points: Any, labels: NDArray[np.uint8]) -> None:
        """Count a block of examples, as ``block_of`` builds it."""
        known, count = labels.astype(np.int64), len(self._values)
        self._labels += np.bincount(known, minlength=count)
        if len(self._cells):
            places = (points + self._starts[:-1]) * count + known[:, None]
            counted = np.bincount(places.ravel(), minlength=count * len(self._cells))
            self._cells += counted.reshape(-1, count)
        elif self._losses is not None:
            self._losses.add_many(points, labels)

    def _count(self) -> None:
        points, labels = self._waiting
        self._waiting = ([], [])
        if labels:
            block = block_of(self._concepts.domain, points)
            self.add_block(block, np.array(labels, dtype=np.uint8))

    def state(self) -> bytes:
        """Return the counts, which ``saved`` restores."""
        self._count()
        losses = np.zeros(0, dtype=np.int64) if self._losses is None else self._losses.as_array()
        return np.concatenate([self._labels, self._cells.ravel(), losses]).tobytes()

    def _load(self, saved: bytes) -> None:
        numbers = np.frombuffer(saved, dtype=np.int64)
        expected = len(np.frombuffer(self.state(), dtype=np.int64))
        if len(numbers) != expected:
            raise StoreError(
                f"the baselines of a store have {len(numbers)} numbers, not {expected}"
            )
        count = len(self._values)
        self._labels = numbers[:count].copy()
        if len(self._cells):
            self._cells = numbers[count:].reshape(-1, count).copy()
        elif self._losses is not None:
            self._losses.load(numbers[count:].copy())

    def hindsight(self) -> Hindsight:
        """Return the best constant and the best rule on what was read so far."""
        self._count()
        constant = self._values[int(self._labels.argmax())]
        fewest = int(self._labels.sum() - self._labels.max())
        if isinstance(self._concepts, Branching):
            best = min([fewest, *map(self._one_question, self._concepts.conditions)])
            return Hindsight(constant, fewest, "all rules with one question", best)
        if self._losses is not None:
            best = int(self._losses.as_array().min())
            return Hindsight(constant, fewest, "all rules of the class", best)
        if isinstance(self._concepts, SetsOfKeys):
            listing_none, listing_all = map(int, self._labels[[1, 0]])
            note = "keys are not counted one by one"
            return Hindsight(0, listing_none, note, None, listing_all)
        return Hindsight(constant, fewest, "the class is too large to keep a count for each", None)

    def _one_question(self, condition: tuple[int, int, int]) -> int:
        """Return the mistakes of the best labels on both sides of a question."""
        part, low, high = condition
        start = self._starts[part]
        inside = self._cells[start + low : start + high + 1].sum(axis=0)
        return int(self._labels.sum() - inside.max() - (self._labels - inside).max())


CURVE_STEP: Final = 50
_FEW: Final = 8  # below this, blocks do not pay off
_NONE: Final[frozenset[int]] = frozenset()


class Feeding:
    """Feed the run inside a durable one, and count for its owner.

    It counts the mistakes of what was published, their curve (with points further apart over time)
    and the baselines.
    """

    def __init__(
        self,
        recipe: PrivateLearner,
        run: PrivateRun,
        saved: Checkpoint | None,
        counted: bytes | None,
    ) -> None:
        """Start at a checkpoint; ``counted`` has the digests of the users of all earlier events."""
        self._recipe, self._run = recipe, run
        self.published = run.hypothesis
        """What the run inside publishes."""
        self.mistakes = 0 if saved is None else saved.mistakes
        known = None if saved is None else saved.baselines
        self.baselines = Baselines(recipe.concepts, known)
        self._rounds = run.rounds_played
        self._counted: CountedUsers | None = None
        if counted is not None:
            self._counted = CountedUsers(counted, most=recipe.max_contributions)
        self.curve: list[tuple[int, int]] = [] if saved is None else saved.curve
        self._next = _after(self.curve[-1][0] if self.curve else 0)

    def over_limit(self, group: Group) -> Set[int]:
        """Return the rounds of the next group whose users have reached ``max_contributions``."""
        if self._counted is None:
            return _NONE
        return {group.first + place for place in self._counted.add_many(group.users)}

    def fed(self, group: Group, over_limit: Set[int] = _NONE) -> Iterator[tuple[int, int]]:
        """Feed one group; yield the ranges at whose ends the hypothesis may have changed."""
        if group.points is None:
            (group,) = self.with_examples([group])
        if over_limit:
            yield from self._fed_around(group, over_limit)
            return
        points, labels = group.points, group.labels
        if len(labels) < _FEW:  # a block has a fixed cost
            plain = type(points) is list
            both = zip(points, labels, strict=True) if plain else single_rounds(points, labels)
            for place, (x, label) in enumerate(both):
                wrong = bool(self.published(x) != label)
                self._run.take(x, label)
                self.published = self._run.hypothesis
                self.baselines.add(x, label)
                self._rounds, self.mistakes = self._rounds + 1, self.mistakes + wrong
                if self._rounds == self._next:
                    self._note_curve()
                yield place, place + 1
            return
        whole = isinstance(points, np.ndarray)
        block = points if whole else block_of(self._recipe.concepts.domain, points)
        known = require.labels(labels, self._recipe.label_count)
        self.baselines.add_block(block, known)
        start = 0
        while start < len(known):
            published = self.published
            end = start + self._run.take(block[start:], known[start:])
            self.published = self._run.hypothesis
            self._note(published.many(block[start:end]) != known[start:end])
            yield start, end
            start = end

    def _fed_around(self, group: Group, over_limit: Set[int]) -> Iterator[tuple[int, int]]:
        """Feed a group in which some rounds have no example."""
        start = 0
        for is_read, part in groupby(
            range(len(group)), lambda at: group.first + at not in over_limit
        ):
            places = list(part)
            if is_read:
                for first, last in self.fed(group.at(places)):
                    yield start + first, start + last
            else:
                for place in places:
                    self._run.pass_round()
                    self.published = self._run.hypothesis
                    self._rounds += 1
                    if self._rounds == self._next:
                        self._note_curve()
                    yield place, place + 1
            start += len(places)

    def _note_curve(self) -> None:
        self.curve.append((self._rounds, self.mistakes))
        self._next = _after(self._rounds)

    def _note(self, wrong: NDArray[np.bool_]) -> None:
        """Count some rounds, and which of them were mistakes."""
        first = self._rounds
        self._rounds += len(wrong)
        while self._next <= self._rounds:
            by_then = self.mistakes + int(np.count_nonzero(wrong[: self._next - first]))
            self.curve.append((self._next, by_then))
            self._next = _after(self._next)
        self.mistakes += int(np.count_nonzero(wrong))

    def with_examples(self, groups: Sequence[Group]) -> list[Group]:
        """Return the events with the examples of their bodies, all parsed at once."""
        check = self._recipe.concepts.domain.check
        bodies = chain.from_iterable(group.bodies for group in groups)
        said = iter(json.loads(f"[{','.join(bodies)}]"))
        examples = [list(islice(said, len(group))) for group in groups]
        return [
            replace(
                group,
                points=[check(as_point(x)) for x, _ in found],
                labels=[label for _, label in found],
            )
            for group, found in zip(groups, examples, strict=True)
        ]


def _after(place: int) -> int:
    """Return the next point of the curve: every round at first, later two percent further."""
    return place + 1 + place // CURVE_STEP
