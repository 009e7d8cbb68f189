"""An adversary is registered by an entry in the module that defines it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import littlestone.game.adversaries
from littlestone.game.protocols import Adversary
from littlestone.registry import discovered


@dataclass(frozen=True, slots=True)
class AdversaryEntry:
    """An adversary that is made from a concept class.

    Modules of ``littlestone.game.adversaries`` list their entries as ``ADVERSARIES``.
    """

    name: str
    build: Callable[[Any], Adversary]
    summary: str


@cache
def every_adversary() -> Mapping[str, AdversaryEntry]:
    """Return the entry of every adversary by its name."""
    return discovered(littlestone.game.adversaries, "ADVERSARIES", AdversaryEntry)
