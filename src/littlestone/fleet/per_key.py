"""An independent private learner for each public key: shops, hospitals, sensors."""

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
from littlestone.fleet.keyed import KeyedRun, key_name, rounds_of
from littlestone.fleet.user_counts import UserCounts, users_under
from littlestone.fleet.user_shares import require_users
from littlestone.learners import codec, snapshots
from littlestone.learners.forms import canonical_form, form_digest
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.group import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.word_sources import labelled_keys

_MOST_AWAKE: Final = 1024
"""Runs that are kept as objects; the others are kept as their states, a tenth of the size."""
_STARTED: Final[set[str]] = set()  # identities, in this process
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
    """A word for whom events belong to: of each, ``learner.max_contributions`` are read."""

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
                "learner must be private conditionally on every prefix: whoever waits for a key "
                "in a bad state pays its delta once for each key that there is, got "
                f"learner={self.learner!r}"
            )

    def guarantee(self) -> PrivacyGuarantee:
        """To a person with ``learner.max_contributions`` examples under each of ``max_keys``.

        Where users are counted, to each user, however many keys and events they have.
        """
        return user_level(
            self.learner.per_example,
            max_contributions=self.max_keys * self.learner.max_contributions,
        )

    @property
    def promise(self) -> str:
        """The guarantee in words, to whom it is given, and what is not covered by it."""
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
        """All runs, none of them begun; with a fresh secret of 32 bytes unless one is given.

        A given secret must be new: whoever starts twice from one uses the same noise twice, so
        within a process that is refused. Only whoever feeds the same events in the same order
        again may ask for a ``replay``; what was started before is then retired.
        """
        run = PerKeyRun(self, secrets.token_bytes(32) if secret is None else secret, {})
        with _STARTING:
            if run.identity in _STARTED and not replay:
                raise ValueError(
                    "runs of this learner were started from this secret already: others would use "
                    "the same noise. Take a fresh secret, or restore a snapshot"
                )
            _STARTED.add(run.identity)
        snapshots.take_over(run.identity, run)
        return run

    def restore(
        self, snapshot: bytes, *, secret: bytes, register: snapshots.Register | None = None
    ) -> "PerKeyRun":
        """Continue from ``snapshot``, once; the secret is not in it and must be the same."""
        saved = snapshots.unpack(snapshot)
        if saved.recipe != form_digest(self):
            raise SnapshotError(
                f"this snapshot belongs to another recipe than {canonical_form(self)}"
            )
        states, counts = codec.loads(saved.engine)
        run = PerKeyRun(self, secret, dict(states), counts)
        if run.identity != saved.identity:
            raise SnapshotError("this snapshot belongs to another secret")
        run._register = register or run._register
        run._register.claim(saved)
        with _STARTING:
            _STARTED.add(run.identity)
        snapshots.track(run.identity, run)
        return run


class PerKeyRun(snapshots.ContinuedOnce):
    """The runs of all keys; it guards them as ``PrivateRun`` guards its engine."""

    def __init__(
        self,
        recipe: PerKey,
        secret: bytes,
        states: dict[Point, bytes],
        counts: Sequence[bytes] = (),
    ) -> None:
        # Of the learner alone, as the noise is: ``max_keys`` makes no other noise.
        learner = form_digest(recipe.learner).encode()
        [name] = labelled_keys(secret, b"identity of all keys" + learner)
        super().__init__(sha256(name).hexdigest()[:32])
        self.recipe = recipe
        self._secret = secret
        self._asleep = states
        self._awake: OrderedDict[Point, KeyedRun] = OrderedDict()
        domain = recipe.learner.concepts.domain
        self._check, self._rounds = domain.check, recipe.learner.rounds
        self._counted: UserCounts | None = None
        if recipe.users is not None:
            self._whose = users_under(labelled_keys(secret, b"users" + learner)[0])
            self._counted = UserCounts(recipe.learner.max_contributions, counts)

    def __iter__(self) -> Iterator[Point]:
        """The keys, in the order in which they were first seen."""
        return iter(self._asleep)

    def __len__(self) -> int:
        return len(self._asleep)

    def observe(self, key: Any, x: Any, y: Any, user: Any = None) -> None:
        """Take one labelled example of ``key``; bad input is refused and changes nothing.

        Where users are counted it says whose the example is. An example of a user who has reached
        ``learner.max_contributions`` is a round in which nothing is read.
        """
        name, point, label = canonical_key(key), self._check(x), require.label(y)
        if (user is None) != (self._counted is None):
            raise ValueError("user must be given where users are counted, and nowhere else")
        whose = None if user is None else self._whose(user)
        self._begin()
        run = self._run_of(name)
        if run.rounds == self._rounds:
            self._break_off(HorizonExceededError(rounds=self._rounds))
        self._use_up_snapshot()
        read = self._counted is None or whose is None or self._counted.add(whose)
        run.take([(point, label) if read else None])
        self._end()

    def hypothesis(self, key: Any) -> Hypothesis:
        """What is published for the coming round of ``key``; its run begins if it was not there."""
        return self._look(key).engine.hypothesis

    def rounds_played(self, key: Any) -> int:
        return self._look(key).rounds

    def switches(self, key: Any) -> int:
        """How often the published hypothesis of ``key`` changed."""
        return max(0, self._look(key).releases - 1)

    def ledger(self, key: Any) -> Ledger:
        return self._look(key).engine.ledger

    def snapshot(self) -> bytes:
        """Bytes from which ``recipe.restore`` continues all runs, once. They hold no secret key,
        and everything else that is secret."""
        self._begin()
        while self._awake:
            self._put_one_to_sleep()
        total = sum(map(rounds_of, self._asleep.values()))
        self._saved = snapshots.number_at(total, self.identity, private=True)
        packed = snapshots.pack(
            snapshots.Saved(
                recipe=form_digest(self.recipe),
                identity=self.identity,
                number=self._saved,
                randomness={},
                rounds_played=total,
                switches=0,
                engine=codec.dumps((list(self._asleep.items()), self._counts())),
            )
        )
        self._end()
        return packed

    def _counts(self) -> list[bytes]:
        return [] if self._counted is None else self._counted.state()

    def _look(self, key: Any) -> KeyedRun:
        name = canonical_key(key)
        self._begin()
        run = self._run_of(name)
        self._end()
        return run

    def _run_of(self, name: Point) -> KeyedRun:
        """The run of a key, awake."""
        run = self._awake.get(name)
        if run is None:
            state = self._asleep.setdefault(name, b"")
            run = KeyedRun.at(self.recipe.learner, self._secret, key_name(name), state or None)
            self._awake[name] = run
            if len(self._awake) > _MOST_AWAKE:
                self._put_one_to_sleep()
        self._awake.move_to_end(name)
        return run

    def _put_one_to_sleep(self) -> None:
        """The one that was not asked for longest; in a fixed order, whatever it holds."""
        name, run = self._awake.popitem(last=False)
        self._asleep[name] = run.state()
