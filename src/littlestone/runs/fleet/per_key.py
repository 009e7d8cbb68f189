"""Run an independent private learner for each public key: shops, hospitals, sensors."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.protocols import Hypothesis, Point
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners import codec, snapshots
from littlestone.learners.forms import canonical_form, form_digest
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.composition import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness.word_sources import labelled_keys
from littlestone.runs.fleet.keyed import KeyedRun, key_name, rounds_of
from littlestone.runs.fleet.over_limit import require_users
from littlestone.runs.intake.users import CountedUsers, canonical_user, user_digest

_MOST_AWAKE: Final = 1024
"""Runs that stay in memory as objects; the others stay as states, a tenth of the size."""
_STARTED: Final[set[str]] = set()  # identities that were started in this process
_STARTING: Final = threading.Lock()


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PerKey:
    """A run of ``learner`` for each key, begun when the key is first seen.

    Which key an event has is public, its example is not. Each run has noise of its own, stretched
    from one secret and the key, so an example pays for the one run that reads it, however many
    keys there are.

    Privacy:
        Releases:   the hypotheses of all keys, which keys there are, and how many rounds each has
        Neighbours: streams that differ in the example of one round, and not in its key
        Adversary:  adaptive; chooses each key and example after seeing what all keys published
        Guarantee:  that of one run of ``learner``, to a person who appears under one key; under at
                    most ``max_keys`` keys by group privacy; to each of the ``users``, who are
                    counted, whatever keys and however many events they have
        Assumes:    the secret is known to nobody; what ``learner`` assumes
        Proof:      per_key.md; also why a key that says something about a person is not protected

    >>> import littlestone as ls
    >>> shops = PerKey(
    ...     learner=ls.PrivateMajority(concepts=ls.Thresholds(8), rounds=1000, epsilon=0.5))
    >>> shops.guarantee(), PerKey(learner=shops.learner, max_keys=2).guarantee().epsilon
    (PrivacyGuarantee(epsilon=0.5, delta=0.0), 1.0)
    >>> run = shops.start()
    >>> run.observe("Haifa", 3, 0)
    >>> run.observe("Jaffa", 5, 1)
    >>> list(run), run.rounds_played("Haifa")
    (['Haifa', 'Jaffa'], 1)
    """

    learner: PrivateLearner
    max_keys: int = 1
    users: str | None = None
    """A word for whose events are counted; ``learner.max_contributions`` of each user are read."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(max_keys=self.max_keys, at_least=1)
        require_users(self.users, self.learner.max_contributions)
        if self.users is not None and self.max_keys > 1:
            raise ValueError(
                "max_keys must be 1 where users are counted: learner.max_contributions is the "
                f"limit for all keys together, got max_keys={self.max_keys}"
            )
        if self.learner.per_example.delta and not self.learner.prefix_conditional:
            raise ValueError(
                "learner must be private conditionally on every prefix: otherwise an attacker who "
                "waits for a key in a bad state multiplies delta by the number of keys, got "
                f"learner={self.learner!r}"
            )

    def guarantee(self) -> PrivacyGuarantee:
        """Return what is promised to a person with ``max_contributions`` examples per key.

        Where users are counted, it holds for each user, however many keys and events they have.
        """
        return user_level(
            self.learner.per_example,
            max_contributions=self.max_keys * self.learner.max_contributions,
        )

    @property
    def promise(self) -> str:
        """Return the guarantee in words, for whom it holds, and what it does not cover."""
        public = "which keys there are and how many rounds each of them has is public"
        if self.users is not None:
            return (
                f"{self.guarantee()} to each {self.users!r}, of whose events at most "
                f"{self.learner.max_contributions} are read under all keys together; {public}"
            )
        keys = "one key" if self.max_keys == 1 else f"at most {self.max_keys} keys"
        examples = self.learner.max_contributions
        each = "one example" if examples == 1 else f"at most {examples} examples"
        return (
            f"{self.guarantee()} to a person who appears under {keys}, with {each} under each; "
            f"{public}"
        )

    def start(self, *, secret: bytes | None = None, replay: bool = False) -> "PerKeyRun":
        """Start with no runs; each begins when its key is first seen.

        Args:
            secret: 32 bytes from which all noise is derived; fresh unless given. A given secret
                must be new: a second start would use the same noise, so within a process it is an
                error.
            replay: Start again from a used secret, to feed the same events in the same order; what
                was started before is retired.
        """
        run = PerKeyRun(self, secrets.token_bytes(32) if secret is None else secret, {})
        with _STARTING:
            if run.identity in _STARTED and not replay:
                raise ValueError(
                    "runs of this learner were already started from this secret: more would use "
                    "the same noise. Use a fresh secret, or restore a snapshot"
                )
            _STARTED.add(run.identity)
        snapshots.take_over(run.identity, run)
        return run

    def restore(
        self, snapshot: bytes, *, secret: bytes, register: snapshots.Register | None = None
    ) -> "PerKeyRun":
        """Continue from ``snapshot``, once; it does not hold the secret, which must be the same."""
        saved = snapshots.unpack(snapshot)
        if saved.recipe != form_digest(self):
            raise SnapshotError(
                f"this snapshot belongs to another recipe than {canonical_form(self)}; restore it "
                f"with its own"
            )
        states, counts = codec.loads(saved.engine)
        run = PerKeyRun(self, secret, dict(states), counts)
        if run.identity != saved.identity:
            raise SnapshotError("this snapshot belongs to another secret; give that of the run")
        run._register = register or run._register
        run._register.claim(saved)
        with _STARTING:
            _STARTED.add(run.identity)
        snapshots.track(run.identity, run)
        return run


class PerKeyRun(snapshots.ContinuedOnce):
    """Hold the runs of all keys, and guard them as ``PrivateRun`` guards its engine."""

    def __init__(
        self,
        recipe: PerKey,
        secret: bytes,
        states: dict[Point, bytes],
        counts: Sequence[bytes] = (),
    ) -> None:
        # From the learner alone, like the noise, which does not depend on ``max_keys``.
        learner = form_digest(recipe.learner).encode()
        [name] = labelled_keys(secret, b"identity of all keys" + learner)
        super().__init__(sha256(name).hexdigest()[:32])
        self.recipe = recipe
        self._secret = secret
        self._asleep = states
        self._awake: OrderedDict[Point, KeyedRun] = OrderedDict()
        domain = recipe.learner.concepts.domain
        self._check, self._rounds = domain.check, recipe.learner.rounds
        self._label_count = recipe.learner.label_count
        self._counted: CountedUsers | None = None
        if recipe.users is not None:
            self._whose = user_digest(labelled_keys(secret, b"users" + learner)[0])
            self._most = recipe.learner.max_contributions
            known = counts or (b"", b"")
            self._counted = CountedUsers.from_state(known, most=self._most)

    def __iter__(self) -> Iterator[Point]:
        """Yield the keys, in the order in which they were first seen."""
        return iter(self._asleep)

    def __len__(self) -> int:
        return len(self._asleep)

    def observe(self, key: Any, x: Any, y: Any, user: Any = None) -> None:
        """Take one labelled example of ``key``; bad input is rejected and changes nothing.

        Where users are counted, ``user`` is the user of the example. An example of a user who has
        reached ``learner.max_contributions`` is a round in which nothing is read.
        """
        name, point, label = (
            canonical_key(key),
            self._check(x),
            require.label(y, count=self._label_count),
        )
        if (user is None) != (self._counted is None):
            raise ValueError("user must be given where users are counted, and nowhere else")
        whose = b"" if user is None else self._whose(canonical_user(user))
        self._begin()
        run = self._run_of(name)
        if run.rounds == self._rounds:
            self._break_off(HorizonExceededError(rounds=self._rounds))
        self._use_up_snapshot()
        read = self._counted is None or self._counted.add(whose) < self._most
        run.take([(point, label) if read else None])
        self._end()

    def hypothesis(self, key: Any) -> Hypothesis:
        """Return what is published for the coming round of ``key``; start its run if needed."""
        return self._look(key).engine.hypothesis

    def rounds_played(self, key: Any) -> int:
        """Return the number of rounds of ``key``."""
        return self._look(key).rounds

    def switches(self, key: Any) -> int:
        """Return how often the published hypothesis of ``key`` changed."""
        return max(0, self._look(key).releases - 1)

    def ledger(self, key: Any) -> Ledger:
        """Return the privacy ledger of ``key``."""
        return self._look(key).engine.ledger

    def snapshot(self) -> bytes:
        """Return bytes from which ``recipe.restore`` continues all runs, once.

        They hold everything that is secret except the secret key.
        """
        self._begin()
        while self._awake:
            self._evict_one()
        total = sum(map(rounds_of, self._asleep.values()))
        self._open_snapshot = snapshots.number_at(total, self.identity, private=True)
        packed = snapshots.pack(
            snapshots.SnapshotContents(
                recipe=form_digest(self.recipe),
                identity=self.identity,
                number=self._open_snapshot,
                randomness={},
                rounds_played=total,
                switches=0,
                engine=codec.dumps((list(self._asleep.items()), self._counts())),
            )
        )
        self._end()
        return packed

    def _counts(self) -> tuple[bytes, ...]:
        return () if self._counted is None else self._counted.state()

    def _look(self, key: Any) -> KeyedRun:
        name = canonical_key(key)
        self._begin()
        run = self._run_of(name)
        self._end()
        return run

    def _run_of(self, name: Point) -> KeyedRun:
        """Return the run of a key, loaded into memory."""
        run = self._awake.get(name)
        if run is None:
            state = self._asleep.setdefault(name, b"")
            run = KeyedRun.at(self.recipe.learner, self._secret, key_name(name), state or None)
            self._awake[name] = run
            if len(self._awake) > _MOST_AWAKE:
                self._evict_one()
        self._awake.move_to_end(name)
        return run

    def _evict_one(self) -> None:
        """Store the least recently used run as its state; the order is independent of data."""
        name, run = self._awake.popitem(last=False)
        self._asleep[name] = run.state()
