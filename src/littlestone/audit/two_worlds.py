"""Play the paper's definition “differential privacy with adaptive inputs” as a game.

An adversary sends examples to a mechanism and sees every answer. Once it submits two examples, of
which a hidden bit forwards one. At the end it reports what it noticed. Privacy bounds the ratio of
the probabilities of any report in the two worlds.
"""

import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from littlestone import require
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import LittlestoneError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.audit.exact.privacy_curve import PrivacyCurve

Conversation = Callable[[Any], Any]
"""Takes one input and returns everything that is released because of it."""


EPSILON_ONE = PrivacyGuarantee(epsilon=1.0)


class Shown(NamedTuple):
    """What a run of a learner shows after a round."""

    hypothesis: Hypothesis
    status: str


class Answered(NamedTuple):
    """The visible part of a round of private prediction; ``said`` is None if hidden."""

    said: int | None
    halted: bool


class Opening(NamedTuple):
    """The public recipe, which is known before the first round."""

    recipe: Any
    shown: Shown


class Promising(Protocol):
    """A recipe that states its guarantee."""

    def guarantee(self) -> PrivacyGuarantee:
        """Return the claimed guarantee."""


class Startable(Promising, Protocol):
    """A recipe whose runs take examples."""

    def start(self, *, rng: Randomness) -> Any:
        """Start a run."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that claims to be private and can be queried."""

    name: str
    claimed: PrivacyGuarantee
    open: Callable[[Randomness], tuple[Any, Conversation]]
    """Starts a run: returns what it releases before any input, and the conversation."""
    left: Callable[[Any], Any] = lambda answer: answer
    """What others see of the challenge's answer, if only its asker gets it."""

    @classmethod
    def from_release(
        cls, recipe: Promising, release: Callable[..., Any] | None = None
    ) -> "Subject":
        """Wrap a stateless mechanism, which releases each input by its ``release``."""
        released = getattr(recipe, "release", None) if release is None else release
        if released is None:
            raise ValueError(
                f"recipe must have a release method, or pass release, got recipe={recipe!r}"
            )

        def start(rng: Randomness) -> tuple[None, Conversation]:
            return None, lambda data: released(data, rng=rng)

        return cls(name=repr(recipe), claimed=recipe.guarantee(), open=start)

    @classmethod
    def from_learner(
        cls, recipe: Startable, *, name: str | None = None, claimed: PrivacyGuarantee | None = None
    ) -> "Subject":
        """Wrap a learner: it takes labelled examples and answers with everything it publishes."""

        def start(rng: Randomness) -> tuple[Opening, Conversation]:
            run = recipe.start(rng=rng)

            def answer(example: tuple[Any, int]) -> Shown:
                run.observe(*example)
                return Shown(run.hypothesis, run.status)

            return Opening(recipe, Shown(run.hypothesis, run.status)), answer

        return cls(
            name=repr(recipe) if name is None else name,
            claimed=recipe.guarantee() if claimed is None else claimed,
            open=start,
        )

    @classmethod
    def from_predictor(cls, recipe: Startable, *, name: str | None = None) -> "Subject":
        """Make a subject that takes (x, y) and shows the learner's answer.

        The answer of the special round is hidden. In other rounds y may be a function of the
        answer.
        """

        def start(rng: Randomness) -> tuple[Any, Conversation]:
            run = recipe.start(rng=rng)

            def answer(example: tuple[Any, Any]) -> Answered:
                x, y = example
                said = run.predict(x)
                run.observe(y(said) if callable(y) else y)
                return Answered(said, run.halted)

            return recipe, answer

        return cls(
            name=repr(recipe) if name is None else name,
            claimed=recipe.guarantee(),
            open=start,
            left=lambda answered: answered._replace(said=None),
        )


def look(published: Any) -> Hashable:
    """Return everything visible in a publication; equal objects may look different.

    >>> look((1, True)) == look((True, 1)), (1, True) == (True, 1)
    (False, True)
    """
    form = getattr(published, "to_json", None)
    try:
        copied: bytes | None = pickle.dumps(published)
    except (AttributeError, TypeError, pickle.PicklingError):
        copied = None  # cannot be compared this way
    return repr(published), None if form is None else json.dumps(form()), copied


class World:
    """One game with a fixed hidden bit; the adversary's only interface."""

    def __init__(self, subject: Subject, bit: int, rng: Randomness) -> None:
        self.opening, self._conversation = subject.open(rng)
        self._bit, self._left = bit, subject.left
        self._challenged = False

    def send(self, example: Any) -> Any:
        """Submit an example common to both worlds and see what is released."""
        return self._conversation(example)

    def challenge(self, zero: Any, one: Any) -> Any:
        """Submit the special round's pair; the hidden bit decides which one arrives."""
        if self._challenged:
            raise LittlestoneError("an adversary may challenge in one round only")
        self._challenged = True
        return self._left(self._conversation(one if self._bit else zero))


class TwoWorldAdversary(Protocol):
    """Plays one game and reports what it noticed, a value with few possibilities."""

    def play(self, world: World, rng: Randomness, /) -> Hashable:
        """Play one game; return what was noticed."""


class Deterministic(ABC):
    """An adversary without coins of its own."""

    __slots__ = ()

    @abstractmethod
    def noticed(self, world: World) -> Hashable:
        """Play one game; return what was noticed."""

    def play(self, world: World, rng: Randomness, /) -> Hashable:
        """Play one game; return what was noticed."""
        del rng
        return self.noticed(world)


def play_once(
    subject: Subject, adversary: TwoWorldAdversary, bit: int, rng: Randomness, foe: Randomness
) -> Hashable:
    """Return what the adversary notices in one game; the parties' randomness is separate."""
    return adversary.play(World(subject, bit, rng), foe)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A correct subject at a given budget and its strongest known adversary."""

    name: str
    subject: Callable[[float, float], Subject]
    adversary: TwoWorldAdversary
    summary: str
    epsilon: float = 1.0
    delta: float = 1e-6
    """The budget in the matrix, at which games are short or the claim is tight."""
    goal: float = 0.8
    """The share of the claim that the adversary should reach, in games or exactly."""
    exact_rounds: int | None = None
    """The largest number of inputs of the game, if all of its coins can be enumerated."""
    negligible_bits: int = 40
    """Cases with a probability below 2**-bits are omitted from the enumeration."""
    witness: "Callable[[Subject, TwoWorldAdversary], PrivacyCurve] | None" = None
    """The exact curve, if it is composed from curves of independent releases."""
    rivals: tuple[TwoWorldAdversary, ...] = ()
    """All other games of an instance on which the claim is loose; each is enumerated, too."""
    patience: float = 1.0
    """The factor on the usual time of its games in the matrix, if it is not enumerated."""
    remark: str = ""
    """An explanation of the share, if it is not obvious."""

    @property
    def enumerated(self) -> bool:
        """Whether its exact curve is known."""
        return self.exact_rounds is not None or self.witness is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A subject with one bug, its description, and the adversary that must find it."""

    subject: Subject
    adversary: TwoWorldAdversary
    bug: str

    @property
    def name(self) -> str:
        """The name of the subject."""
        return self.subject.name

    @classmethod
    def of(
        cls,
        name: str,
        bug: str,
        start: Callable[[Randomness], Conversation],
        adversary: TwoWorldAdversary,
        claimed: PrivacyGuarantee = EPSILON_ONE,
    ) -> "Control":
        """Make a control that releases nothing before its first input."""
        subject = Subject(name=name, claimed=claimed, open=lambda rng: (None, start(rng)))
        return cls(subject=subject, adversary=adversary, bug=bug)

    @classmethod
    def one_shot(
        cls,
        name: str,
        bug: str,
        release: Callable[[Any, Randomness], Any],
        adversary: TwoWorldAdversary,
        claimed: PrivacyGuarantee = EPSILON_ONE,
    ) -> "Control":
        """Make a stateless control: each input is released independently."""
        return cls.of(name, bug, lambda rng: lambda data: release(data, rng), adversary, claimed)
