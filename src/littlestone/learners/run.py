"""What every private learner shares: the recipe's duties, and the run that guards an engine.

A learner is written as a recipe (public, frozen) and an engine (the algorithm, with its secrets).
``PrivateRun`` stands in front of the engine: it validates input before anything changes, counts
the rounds, and takes snapshots, so that no engine does any of this again.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners import codec, snapshots
from littlestone.learners.engine import Engine
from littlestone.learners.forms import canonical_form, form_digest, from_form, remembered
from littlestone.noise_owner import IN_A_STEP
from littlestone.privacy.group import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, secure, take_over
from littlestone.theory.concentration import mean_upper_bound

_PIECES_GROW, _LARGEST_PIECE = 8, 1 << 13  # larger ones leave the cache
_LISTED = (list, np.ndarray)  # a union would be made anew by each call


@require.checked
class PrivateLearner(ABC):
    """The recipe of a private learner: a frozen value that says what it promises and can start.

    A new learner states its promise per example, what it can bound and its engine; what is
    promised to a user, starting and restoring are the same for all.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # fields or properties of the recipes; a property here would be a default
        # fmt: off
        @property
        def concepts(self) -> ConceptClass: ...
        @property
        def rounds(self) -> int | None:
            """The horizon; None when there is none."""
        @property
        def max_contributions(self) -> int:
            """How many rounds one user may supply; the guarantee is per user."""
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
        """What is promised to a user with a single example; ledgers count in this unit."""

    @property
    def budget(self) -> PrivacyGuarantee:
        """What ``per_example`` stays within for every horizon."""
        return self.per_example

    @property
    def concentrated(self) -> ZeroConcentrated | None:
        """What the whole run costs one example in zCDP, where that is known."""
        return None

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Mistakes on realizable streams; exceeded with ``failure_probability`` at most.

        The best concept makes none there, so what bounds the regret bounds the mistakes.
        """
        return self.regret_bound(failure_probability=failure_probability)

    def regret_bound(self, *, failure_probability: float) -> float:
        """Mistakes beyond the best concept's; exceeded with ``failure_probability`` at most.

        The number of rounds where nothing better is proved.
        """
        require.open_probability(failure_probability=failure_probability)
        return self._most_mistakes

    def expected_mistake_bound(self) -> float:
        """The mean of the mistakes on realizable streams."""
        tail = mean_upper_bound(self.mistake_bound, most=self._most_mistakes)
        return min(tail, self.expected_regret_bound())

    def expected_regret_bound(self) -> float:
        """The mean of the regret."""
        return mean_upper_bound(self.regret_bound, most=self._most_mistakes)

    @property
    def _most_mistakes(self) -> float:
        return math.inf if self.rounds is None else float(self.rounds)

    @abstractmethod
    def engine(self, rng: Randomness, /) -> Engine:
        """The algorithm, not begun."""

    def refuse_to_start(self) -> None:  # noqa: B027 (most recipes can always start)
        """Raise if no run of this recipe could get anywhere; it may still be looked at."""

    def for_rounds(self, rounds: int) -> "PrivateLearner":
        """The same learner for another horizon; recipes that plan for it plan anew."""
        return replace(self, rounds=rounds)  # type: ignore[type-var]

    @final
    def guarantee(self) -> PrivacyGuarantee:
        """Per user who contributes at most ``max_contributions`` examples."""
        return user_level(
            self.per_example,
            max_contributions=self.max_contributions,
            concentrated=self.concentrated,
        )

    @final
    @property
    def promise(self) -> str:
        """The guarantee in words, and to whom it is given."""
        if self.max_contributions == 1:
            return str(self.guarantee())
        return f"{self.guarantee()} to a user with at most {self.max_contributions} examples"

    @final
    def start(self, *, rng: Randomness | None = None) -> "PrivateRun":
        """A run, with the operating system's randomness unless told otherwise."""
        self.refuse_to_start()
        source = secure() if rng is None else rng
        identity = snapshots.identity_of(source)  # before anything is drawn
        engine = self.engine(source)
        engine.begin()
        run = PrivateRun(self, engine, source, identity)
        if source.private:
            snapshots.take_over(identity, run)
        return run

    @final
    def restore(self, snapshot: bytes, register: snapshots.Register | None = None) -> "PrivateRun":
        """Continue from ``snapshot``, which is used up by it.

        In one process every snapshot is remembered; give a ``FileRegister`` to be as careful
        across processes. Snapshots of seeded runs protect nothing and may be continued at will.
        """
        saved = snapshots.unpack(snapshot)
        if saved.recipe != form_digest(self):
            raise SnapshotError(
                f"this snapshot belongs to another recipe than {canonical_form(self)}"
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


@remembered
def _promise(recipe: Any) -> str:
    return str(recipe.promise)


class PrivateRun(snapshots.ContinuedOnce):
    """One run of a private learner: a published hypothesis, and ``observe``.

    Releases nothing but ``hypothesis``, ``switches`` and ``status``, which are functions of what
    was published. It cannot be copied or pickled; ``snapshot`` gives bytes that may be continued
    once. A forked child cannot feed it, a thread that comes in the middle of another's step is
    refused, and after an exception in the middle of a step (a signal, say) it takes no further
    example: whether that one was counted shows in ``rounds_played``, which must not be guessed.
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
        engine.ledger.promise = _promise(recipe)

    @property
    def recipe(self) -> PrivateLearner:
        return self._recipe

    @property
    def hypothesis(self) -> Hypothesis:
        """What is published for the coming round; reading it changes nothing."""
        return self._hypothesis

    @property
    def rounds_played(self) -> int:
        return self._played

    @property
    def switches(self) -> int:
        """How often the published hypothesis changed."""
        return self._switches

    @property
    def ledger(self) -> Ledger:
        return self._engine.ledger

    @property
    def private(self) -> bool:
        """False for a seeded run: its noise can be computed by anyone who knows the seed."""
        return self._rng.private

    @property
    def status(self) -> str:
        if self._barred:
            return f"out of use: this run {self._barred}"
        if self._played == self._recipe.rounds:
            return f"horizon used up after {self._recipe.rounds} rounds; still publishing"
        return self._engine.status

    def observe(self, x: Any, y: Any) -> None:
        """Take one labelled example; bad input is refused and changes nothing."""
        self.observe_canonical(self._check(x), require.label(y))

    def observe_canonical(self, point: Any, label: Label) -> None:
        """``observe`` for a caller who has checked the point by the domain and the label."""
        if self._barred:
            self._refuse()
        self._barred = IN_A_STEP  # straight after the test, as in NoiseOwner._begin
        if self._played == self._rounds or self._saved is not None:
            self._before_going_on()
        self._played += 1
        self._engine.step(point, label)
        self._publish()
        if self._barred is IN_A_STEP:
            self._barred = None

    def pass_round(self) -> None:
        """Play a round in which nobody's example is read: of someone who has had enough, say.

        It counts and publishes like any other (docs/GUARANTEES.md, U).
        """
        self._begin()
        if self._played == self._rounds or self._saved is not None:
            self._before_going_on()
        self._played += 1
        self._engine.idle(next(iter(self._recipe.concepts.domain)))
        self._publish()
        self._end()

    def observe_many(self, xs: Any, ys: Any) -> int:
        """Take a block of rounds until the published hypothesis changes; returns how many.

        A list is validated as far as it is taken, in growing pieces: rows before a bad one are
        taken, and the call that begins with it is refused and changes nothing. Other blocks are
        validated whole, and refused whole. A block longer than the rounds left is cut there.
        """
        if not (isinstance(xs, list) and isinstance(ys, _LISTED) and xs):
            return self.observe_many_canonical(*self.validated(xs, ys))
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
            taken += self.observe_many_canonical(*validated)
            if len(validated[1]) < len(piece[1]):
                return taken
            size = min(size * _PIECES_GROW, _LARGEST_PIECE)
        return taken

    def _rows_before_a_bad_one(self, xs: Any, ys: Any) -> int:
        for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
            try:
                self._check(x)
                require.label(y)
            except ValueError:
                return place
        return len(ys)

    def validated(self, xs: Any, ys: Any) -> tuple[Any, NDArray[np.uint8]]:
        """A block as ``observe_many_canonical`` takes it, or a refusal.

        Who feeds a long block whatever it publishes validates it once and hands on the rest:

        >>> import littlestone as ls
        >>> run = ls.AgnosticFinite(
        ...     concepts=ls.Thresholds(8), rounds=1000, epsilon=1.0, delta=1e-6).start()
        >>> points, labels = run.validated([1, 6] * 500, [0, 1] * 500)
        >>> while len(labels):
        ...     taken = run.observe_many_canonical(points, labels)
        ...     points, labels = points[taken:], labels[taken:]
        >>> run.rounds_played
        1000
        """
        points, labels = self._check_many(xs), require.labels(ys)
        _require_equally_long(points, labels)
        return points, labels

    def observe_many_canonical(self, points: Any, labels: NDArray[np.uint8]) -> int:
        """``observe_many`` for a caller who has validated the block, or the one it is a part of."""
        if not len(labels):
            return 0
        self._begin()
        if self._played == self._rounds or self._saved is not None:
            self._before_going_on()
        points, labels = self._as_many_as_are_left(points, labels)
        taken = self._engine.steps(points, labels)
        self._played += taken
        self._publish()
        self._end()
        return taken

    def follow(self, xs: Any, ys: Any) -> NDArray[np.uint8]:
        """Take a whole block, whatever is published meanwhile: what was published said of each.

        For who wants predictions, not every hypothesis: round t's was fixed before (x_t, y_t) was
        looked at. A block longer than the rounds left is cut there.
        """
        points, labels = self.validated(xs, ys)
        if not len(labels):
            return np.empty(0, dtype=np.uint8)
        self._begin()
        if self._played == self._rounds or self._saved is not None:
            self._before_going_on()
        points, labels = self._as_many_as_are_left(points, labels)
        said, switches = self._engine.follow(points, labels)
        self._played += len(labels)
        self._switches += switches
        self._hypothesis = self._engine.hypothesis
        self._end()
        return said

    def _as_many_as_are_left(self, points: Any, labels: Any) -> tuple[Any, Any]:
        left = len(labels) if self._rounds is None else self._rounds - self._played
        # A slice of a list is a copy.
        return (points[:left], labels[:left]) if left < len(labels) else (points, labels)

    @require.checked
    def snapshot(self, register: snapshots.Register | None = None) -> bytes:
        """Bytes from which ``recipe.restore`` continues identically. They hold secrets.

        It may be continued by ``restore`` or by going on with this run, not by both, since they
        would share the same noise: as long as the process lives, the second is refused. A later
        snapshot makes earlier ones useless, too. If another process may restore it with a
        ``FileRegister``, give that here: going on with this run is then recorded there.
        """
        self._begin()
        private = self._rng.private
        number = snapshots.number_at(self._played, self._identity, private=private)
        packed = snapshots.pack(
            snapshots.Saved(
                recipe=form_digest(self._recipe),
                identity=self._identity,
                number=number,
                randomness=self._rng.state(),
                rounds_played=self._played,
                switches=self._switches,
                engine=codec.dumps(self._engine.state(), (self._recipe.concepts,)),
            )
        )
        self._saved = number if private else None
        self._register = register or self._register
        self._end()
        return packed

    def _before_going_on(self) -> None:
        """Within a step that has changed nothing yet."""
        if self._rounds is not None and self._played >= self._rounds:
            self._break_off(HorizonExceededError(rounds=self._rounds))
        self._use_up_snapshot()

    def _publish(self) -> None:
        newest = self._engine.hypothesis
        if newest is not self._hypothesis:
            self._switches += newest != self._hypothesis
            self._hypothesis = newest


def _require_equally_long(xs: Any, ys: Any) -> None:
    if len(xs) != len(ys):
        raise ValueError(
            f"xs and ys must be equally long, got len(xs)={len(xs)}, len(ys)={len(ys)}"
        )


def recipe_from_form(form: str) -> PrivateLearner:
    """Make the private learner whose ``canonical_form`` this is; SnapshotError if it cannot be."""
    return from_form(form, PrivateLearner)  # type: ignore[type-abstract]
