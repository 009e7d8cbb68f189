"""The paper's definition “differential privacy with adaptive inputs”, played literally.

An adversary talks to a mechanism, once submits two examples of which a hidden bit passes one on,
sees every answer, and finally says what it noticed. Privacy bounds how differently often it can
notice anything in the two worlds.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from littlestone.errors import LittlestoneError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

Conversation = Callable[[Any], Any]
"""Takes one input, gives everything that is released because of it."""


class Subject(Protocol):
    """Something that claims to be private and can be talked to."""

    def guarantee(self) -> PrivacyGuarantee: ...

    def open(self, rng: Randomness, /) -> tuple[Any, Conversation]:
        """A fresh run: what it releases before any input, and the conversation."""
        ...


class World:
    """One game in which the hidden bit is fixed; all that an adversary can reach."""

    __slots__ = ("_bit", "_challenged", "_conversation", "opening")

    def __init__(self, subject: Subject, bit: int, rng: Randomness) -> None:
        self.opening, self._conversation = subject.open(rng)
        self._bit = bit
        self._challenged = False

    def send(self, example: Any) -> Any:
        """Submit an example common to both worlds and see what is released."""
        return self._conversation(example)

    def challenge(self, zero: Any, one: Any) -> Any:
        """Submit the special round's pair; the hidden bit decides which one arrives."""
        if self._challenged:
            raise LittlestoneError("an adversary may challenge in one round only")
        self._challenged = True
        return self._conversation(one if self._bit else zero)


class TwoWorldAdversary(Protocol):
    """Plays one game and says what it noticed (a value with few possibilities)."""

    def play(self, world: World, rng: Randomness, /) -> Hashable: ...


def play_once(
    subject: Subject, adversary: TwoWorldAdversary, bit: int, rng: Randomness, foe: Randomness
) -> Hashable:
    """What the adversary notices in one game; the parties' randomness is separate."""
    return adversary.play(World(subject, bit, rng), foe)
