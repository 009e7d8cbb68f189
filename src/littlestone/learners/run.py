"""The recipe base class of every private learner, and the run that guards an engine.

A learner is a recipe (public, frozen) and an engine (the algorithm, with its secrets).
``PrivateRun`` stands in front of the engine: it validates input before anything changes, counts the
rounds and takes snapshots, so that no engine has to.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.concepts.schema import label_values
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners import codec, snapshots
from littlestone.learners.engine import Engine, round_at
from littlestone.learners.forms import cached_by_identity, canonical_form, form_digest, from_form
from littlestone.privacy.composition import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, secure, take_over
from littlestone.randomness.noise_owner import IN_A_STEP
from littlestone.theory.concentration import mean_upper_bound
from littlestone.type_checks import is_a

# A list is validated in pieces that grow by a factor; larger pieces would leave the cache.
_PIECES_GROW, _LARGEST_PIECE = 8, 1 << 13
_LABEL_BLOCKS = (list, np.ndarray)  # a constant: each call would build the union again


@require.checked
class PrivateLearner(ABC):
    """Base class of the recipes of private learners: frozen values that state a promise and start.

    A subclass defines ``per_example``, its bounds and its ``engine``. The promise to a user,
    ``start`` and ``restore`` are the same for all.
    """

    __slots__ = ()

    most_labels: ClassVar[int] = 2
    """How many labels there may be; most algorithms are for two."""

    if TYPE_CHECKING:  # fields or properties of the recipes; a property here would be a default
        # fmt: off
        @property
        def concepts(self) -> ConceptClass:
            """The class that is learned."""
        @property
        def rounds(self) -> int | None:
            """The horizon; None for a learner without one."""
        @property
        def max_contributions(self) -> int:
            """The most rounds that one user may supply; the guarantee is per user."""
        @property
        def oblivious_only(self) -> bool:
            """Whether accuracy (never privacy) is promised against oblivious adversaries only."""
        @property
        def prefix_conditional(self) -> bool:
            """Whether privacy holds conditionally on every prefix, which makes restarts free."""
        # fmt: on

    @property
    @abstractmethod
    def per_example(self) -> PrivacyGuarantee:
        """The guarantee for a user with a single example, which is the unit of the ledgers."""

    @property
    def budget(self) -> PrivacyGuarantee:
        """The guarantee that ``per_example`` stays within for every horizon."""
        return self.per_example

    def _repr_html_(self) -> str:
        """Show the promise and every field in a notebook: a recipe is public."""
        declared = {part.name: repr(getattr(self, part.name))[:200] for part in fields(self)}  # type: ignore[arg-type]
        return html_table({type(self).__name__: self.promise, **declared})

    @property
    def concentrated(self) -> ZeroConcentrated | None:
        """The zCDP cost of the whole run for one example; None where it is unknown."""
        return None

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes on realizable streams, except with ``failure_probability``.

        The best concept makes no mistake there, so a bound on the regret is one on the mistakes.
        """
        return self.regret_bound(failure_probability=failure_probability)

    def regret_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes beyond the best concept's, except with ``failure_probability``.

        Returns:
            The bound; the number of rounds where nothing better is proved.
        """
        return self._most_mistakes

    def expected_mistake_bound(self) -> float:
        """Bound the mean of the mistakes on realizable streams."""
        tail = mean_upper_bound(self.mistake_bound, most=self._most_mistakes)
        return min(tail, self.expected_regret_bound())

    def expected_regret_bound(self) -> float:
        """Bound the mean of the regret."""
        return mean_upper_bound(self.regret_bound, most=self._most_mistakes)

    @property
    def _most_mistakes(self) -> float:
        return math.inf if self.rounds is None else float(self.rounds)

    @abstractmethod
    def engine(self, rng: Randomness, /) -> Engine:
        """Return the algorithm, before ``begin``."""

    def refuse_to_start(self) -> None:  # noqa: B027 (most recipes can always start)
        """Raise if no run of this recipe can make progress; the recipe itself stays valid."""

    def for_rounds(self, rounds: int) -> "PrivateLearner":
        """Return the same learner for another horizon, with its numbers planned again."""
        return replace(self, rounds=rounds)  # type: ignore[type-var]

    @final
    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee for a user with at most ``max_contributions`` examples."""
        return user_level(
            self.per_example,
            max_contributions=self.max_contributions,
            concentrated=self.concentrated,
        )

    @final
    @property
    def promise(self) -> str:
        """The guarantee in words, with whom it protects."""
        if self.max_contributions == 1:
            return str(self.guarantee())
        return f"{self.guarantee()} to a user with at most {self.max_contributions} examples"

    @final
    def start(self, *, rng: Randomness | None = None) -> "PrivateRun":
        """Start a run.

        Args:
            rng: The source of all noise; by default the operating system's.

        Raises:
            LittlestoneError: If the recipe cannot make progress (``refuse_to_start``).
        """
        self.refuse_to_start()
        source = secure() if rng is None else rng
        identity = snapshots.identity_of(source)  # before anything is drawn from it
        engine = self.engine(source)
        engine.begin()
        run = PrivateRun(self, engine, source, identity)
        if source.private:
            snapshots.take_over(identity, run)
        return run

    @final
    @property
    def label_count(self) -> int:
        """How many labels the class has.

        Raises:
            ValueError: If there are more than ``most_labels``.
        """
        count = len(label_values(self.concepts.domain))
        if count > self.most_labels:
            raise ValueError(
                f"concepts must have at most {self.most_labels} labels for "
                f"{type(self).__name__}, got {count}; DisjointBatches learns decision trees with "
                f"more of them (setting 'agnostic', adversary 'oblivious')"
            )
        return count

    @final
    def restore(self, snapshot: bytes, register: snapshots.Register | None = None) -> "PrivateRun":
        """Continue from a snapshot, which is used up by it.

        Snapshots of seeded runs protect nothing and may be continued any number of times.

        Args:
            snapshot: What ``PrivateRun.snapshot`` returned.
            register: Remembers which snapshots were continued; by default for the life of
                this process. Give a ``FileRegister`` to remember across processes.

        Raises:
            SnapshotError: If the snapshot is damaged, of another recipe, or was continued
                already.
        """
        saved = snapshots.unpack(snapshot)
        if saved.recipe != form_digest(self):
            raise SnapshotError(
                f"this snapshot belongs to another recipe than {canonical_form(self)}; restore it "
                f"with its own"
            )
        rng = saved.source()
        engine = self.engine(rng)
        saved.fill(engine, (self.concepts,), rng)
        guard = register or snapshots.ProcessRegister()
        if rng.private:
            guard.claim(saved)
            take_over(rng)
        run = PrivateRun(self, engine, rng, saved.identity)
        if rng.private:
            snapshots.track(saved.identity, run)
        run._register = guard
        run._played = saved.rounds_played
        run._switches = saved.switches
        return run


def html_table(values: Mapping[str, object]) -> str:
    """Return an HTML table for notebooks: one row for each name and its value."""
    rows = (
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in values.items()
    )
    return f"<table>{''.join(rows)}</table>"


@cached_by_identity
def _promise(recipe: Any) -> str:
    return str(recipe.promise)


class PrivateRun(snapshots.ContinuedOnce):
    """One run of a private learner: a published hypothesis, and ``observe``.

    It releases nothing but ``hypothesis``, ``switches`` and ``status``, which are functions of what
    was published. It cannot be copied or pickled; ``snapshot`` returns bytes that may be continued
    once. A forked child cannot feed it, and a second thread is rejected while a step is under way.
    After an exception in the middle of a step (a signal, say) the run takes no further example:
    whether that example was counted would show in ``rounds_played``.
    """

    @require.checked
    def __init__(
        self, recipe: PrivateLearner, engine: Engine, rng: Randomness, identity: str
    ) -> None:
        super().__init__(identity)
        self._recipe = recipe
        self._engine = engine
        self._rng = rng
        self._rounds = recipe.rounds
        self._played = 0
        self._switches = 0
        self._hypothesis = engine.hypothesis
        self._check = recipe.concepts.domain.check
        self._check_many = recipe.concepts.domain.check_many
        self._label_count = recipe.label_count
        engine.ledger.promise = _promise(recipe)

    @property
    def recipe(self) -> PrivateLearner:
        """The recipe that started this run."""
        return self._recipe

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis published for the next round; reading it changes nothing."""
        return self._hypothesis

    def _repr_html_(self) -> str:
        """Show what is published, and nothing else, in a notebook."""
        stamp = "" if self.private else "NOT PRIVATE: this run was seeded; "
        rule = self.hypothesis.describe()
        values = {"rule": rule[:2000], "changes": self.switches, "status": self.status}
        return html_table({**values, "promise": f"{stamp}{self.ledger.promise}"})

    @property
    def rounds_played(self) -> int:
        """The number of rounds taken."""
        return self._played

    @property
    def switches(self) -> int:
        """How often the published hypothesis has changed."""
        return self._switches

    @property
    def ledger(self) -> Ledger:
        """The charges for everything released so far."""
        return self._engine.ledger

    @property
    def private(self) -> bool:
        """False for a seeded run, whose noise can be computed from the seed."""
        return self._rng.private

    @property
    def status(self) -> str:
        """What the run is doing, in words; a function of what was published."""
        if self._barred:
            return f"out of use: this run {self._barred}"
        if self._played == self._recipe.rounds:
            return f"horizon used up after {self._recipe.rounds} rounds; still publishing"
        return self._engine.status

    def observe(self, x: Any, y: Any) -> None:
        """Take one labelled example.

        Raises:
            ValueError: If the point or the label is invalid; nothing has changed then.
            HorizonExceededError: If all rounds are played.
        """
        point, count = self._check(x), self._label_count
        if type(y) is not int or not 0 <= y < count:  # a call takes a fifth of some rounds
            y = require.label(y, count=count)
        self._play(self._engine.step, point, y)

    def pass_round(self) -> None:
        """Play a round that reads nobody's example, such as one of a user past the limit.

        It counts and publishes like any other round (docs/GUARANTEES.md, U).
        """
        point = next(iter(self._recipe.concepts.domain))
        self._play(lambda x, _: self._engine.idle(x), point, 0)

    def take(self, points: Any, labels: Any) -> int:
        """Take validated input: one round, or a block until the published hypothesis changes.

        Args:
            points: A point in canonical form, or (part of) a block as ``validated`` returns
                it.
            labels: 0 or 1, or the labels of a block.

        Returns:
            How many rounds were taken; a block longer than the rounds left is cut.
        """
        if isinstance(labels, int):
            self._play(self._engine.step, points, labels)
            return 1
        taken: int = self._play(self._steps, points, labels) if len(labels) else 0
        return taken

    def observe_many(self, xs: Any, ys: Any) -> int:
        """Take rounds of a block until the published hypothesis changes; return how many.

        A list is validated piece by piece as it is taken: rows before a bad one are taken, and the
        call that begins with the bad row raises and changes nothing. Any other block is validated
        as a whole. A block longer than the rounds left is cut.
        """
        # A table of labels is refused as a whole: each of its rows could pass for a label.
        is_table = is_a(ys, np.ndarray) and ys.ndim != 1
        if is_table or not (is_a(xs, list) and is_a(ys, _LABEL_BLOCKS) and xs):
            return self.take(*self.validated(xs, ys))
        _require_equally_long(xs, ys)
        taken, size, switches = 0, self._engine.first_rounds, self._switches
        if size == 1:
            self.observe(xs[0], ys[0])
            taken, size = 1, _PIECES_GROW
        while not taken or (
            taken < len(xs) and self._played != self._rounds and self._switches == switches
        ):
            piece = xs[taken : taken + size], ys[taken : taken + size]
            try:
                validated = self.validated(*piece)
            except ValueError:
                good = self._rows_before_a_bad_one(*piece)
                if not good and not taken:
                    raise
                validated = self.validated(piece[0][:good], piece[1][:good])
            taken += self.take(*validated)
            if len(validated[1]) < len(piece[1]):
                return taken
            size = min(size * _PIECES_GROW, _LARGEST_PIECE)
        return taken

    def _rows_before_a_bad_one(self, xs: Any, ys: Any) -> int:
        for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
            try:
                self._check(x)
                require.label(y, count=self._label_count)
            except ValueError:
                return place
        return len(ys)

    def validated(self, xs: Any, ys: Any) -> tuple[Any, NDArray[np.uint8]]:
        """Return a block in the form that ``take`` expects, or raise.

        To feed a long block whatever is published meanwhile, validate it once and pass on the rest:

        >>> import littlestone as ls
        >>> run = ls.AgnosticFinite(
        ...     concepts=ls.Thresholds(8), rounds=1000, epsilon=1.0, delta=1e-6).start()
        >>> points, labels = run.validated([1, 6] * 500, [0, 1] * 500)
        >>> while len(labels):
        ...     taken = run.take(points, labels)
        ...     points, labels = points[taken:], labels[taken:]
        >>> run.rounds_played
        1000
        """
        points, labels = self._check_many(xs), require.labels(ys, self._label_count)
        _require_equally_long(points, labels)
        return points, labels

    def _steps(self, points: Any, labels: NDArray[np.uint8]) -> int:
        """Take rounds until the published hypothesis changes; return how many.

        Where most rounds publish a new hypothesis, one step is cheaper than a block.
        """
        engine = self._engine
        if engine.first_rounds > 1:
            return engine.steps(points, labels)
        published = engine.hypothesis
        engine.step(*round_at(points, labels, 0))
        newest = engine.hypothesis
        if len(labels) == 1 or (newest is not published and newest != published):
            return 1
        return 1 + engine.steps(points[1:], labels[1:])

    def follow(self, xs: Any, ys: Any) -> NDArray[np.uint8]:
        """Take a whole block; return the published hypothesis's prediction in each round.

        For callers that need predictions, not every hypothesis. The prediction of round t is fixed
        before (x_t, y_t) is read. A block longer than the rounds left is cut.
        """
        points, labels = self.validated(xs, ys)
        if not len(labels):
            return np.empty(0, dtype=np.uint8)
        predictions: NDArray[np.uint8] = self._play(self._engine.follow, points, labels)[0]
        return predictions

    def _play(self, step: Callable[[Any, Any], Any], points: Any, labels: Any) -> Any:
        """Let the engine take a round or a block; every call of the engine goes through here."""
        if self._barred:
            self._refuse()
        self._barred = IN_A_STEP  # straight after the test, as in NoiseOwner._begin
        if self._played == self._rounds or self._open_snapshot is not None:
            self._check_before_step()
        if isinstance(labels, int):
            self._played += 1
            result = step(points, labels)
        else:
            left = len(labels) if self._rounds is None else self._rounds - self._played
            if left < len(labels):  # a slice of a list is a copy
                points, labels = points[:left], labels[:left]
            result = step(points, labels)
            if isinstance(result, tuple):  # from ``follow``, which takes the whole block
                self._played += len(labels)
                self._switches += result[1]
                self._hypothesis = self._engine.hypothesis
            else:
                self._played += result
        newest = self._engine.hypothesis
        if newest is not self._hypothesis:
            self._switches += newest != self._hypothesis
            self._hypothesis = newest
        if self._barred is IN_A_STEP:
            self._barred = None
        return result

    @require.checked
    def snapshot(self, register: snapshots.Register | None = None) -> bytes:
        """Return bytes from which ``recipe.restore`` continues identically. They hold secrets.

        Either ``restore`` continues the snapshot or this run does, not both: they would
        share the same noise, so the second one is rejected for the life of this process. A
        later snapshot makes earlier ones useless.

        Args:
            register: Where to record that this run continued. Give the same
                ``FileRegister`` as another process uses to restore.
        """
        self._begin()
        private = self._rng.private
        number = snapshots.number_at(self._played, self._identity, private=private)
        packed = snapshots.pack(
            snapshots.SnapshotContents(
                recipe=form_digest(self._recipe),
                identity=self._identity,
                number=number,
                randomness=self._rng.state(),
                rounds_played=self._played,
                switches=self._switches,
                engine=codec.dumps(self._engine.state(), (self._recipe.concepts,)),
            )
        )
        self._open_snapshot = number if private else None
        self._register = register or self._register
        self._end()
        return packed

    def _check_before_step(self) -> None:
        """Check horizon and snapshot, inside a step that has changed nothing yet."""
        if self._rounds is not None and self._played >= self._rounds:
            self._break_off(HorizonExceededError(rounds=self._rounds))
        self._use_up_snapshot()


def _require_equally_long(xs: Any, ys: Any) -> None:
    if len(xs) != len(ys):
        raise ValueError(
            f"xs and ys must be equally long, got len(xs)={len(xs)}, len(ys)={len(ys)}"
        )


def recipe_from_form(form: str) -> PrivateLearner:
    """Return the private learner with this ``canonical_form``.

    Raises:
        SnapshotError: If the form is damaged or describes no private learner.
    """
    return from_form(form, PrivateLearner)  # type: ignore[type-abstract]
