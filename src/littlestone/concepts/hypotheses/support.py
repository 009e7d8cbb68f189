"""A hypothesis that is 1 on finitely many keys and 0 everywhere else."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import AnyHashable
from littlestone.concepts.hypotheses.common import Exported, shown
from littlestone.concepts.keys import as_integer, key_from_json, key_order, key_to_json
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.type_checks import is_a

_FEW = 8  # below this many keys, comparing with each is faster than a search
_RARE = 16  # above this frequency, searching each place is slower than testing every point


@dataclass(frozen=True, slots=True)
class FiniteSupport(Exported):
    """1 exactly on ``positives``, over any domain that holds them.

    >>> rule = FiniteSupport.on("a", ("user", 7))
    >>> rule("a"), rule("b"), rule.many(["b", ("user", 7)]).tolist()
    (1, 0, [0, 1])
    >>> rule.disagreement(FiniteSupport.on("a"))
    ('user', 7)
    """

    positives: frozenset[Point]

    def __post_init__(self) -> None:
        if not isinstance(self.positives, frozenset):
            raise ValueError(f"positives must be a frozenset, got positives={self.positives!r}")

    @classmethod
    def on(cls, *keys: Point) -> Self:
        """Return the hypothesis that is 1 exactly on these keys."""
        return cls(frozenset(keys))

    def __call__(self, x: Any, /) -> Label:
        try:
            return 1 if x in self.positives else 0
        except TypeError:
            raise ValueError(f"x must be hashable, got x={x!r}") from None

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        if not self.positives:
            return np.zeros(len(xs), dtype=np.uint8)
        if is_a(xs, np.ndarray):
            # Going through the keys pays only if there are many more points.
            if xs.dtype.kind in "iu" and xs.ndim == 1 and len(xs) > len(self.positives):
                return self._many_integers(xs)
            xs = xs.tolist() if xs.ndim == 1 else map(tuple, xs.tolist())
        if len(self.positives) == 1 and type(xs) is list:
            rare = _where_rare(next(iter(self.positives)), xs)
            if rare is not None:
                return rare
        found = bytearray(list(map(self.positives.__contains__, xs)))  # a list converts faster
        return np.frombuffer(found, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Return the first key, in ``key_order``, on which the two differ."""
        if isinstance(other, FiniteSupport) or votes_on_supports(other):
            theirs = support_of(other, AnyHashable())
            return min(self.positives ^ theirs, key=key_order, default=None)
        return other.disagreement(self)  # the other kind knows its domain

    def sorted_positives(self) -> list[Point]:
        """Return the keys in an order that depends only on the set."""
        return sorted(self.positives, key=key_order)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "support", "positives": [key_to_json(x) for x in self.sorted_positives()]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read the JSON form; raise a ValueError if it is not one."""
        keys = data.get("positives")
        if not isinstance(keys, list):
            raise ValueError(f"positives must be a list of keys, got positives={keys!r}")
        return cls(frozenset(key_from_json(key) for key in keys))

    def describe(self) -> str:
        if not self.positives:
            return "0 everywhere"
        words = [repr(x) for x in self.sorted_positives()]
        return f"1 on {', '.join(shown(words))}, 0 elsewhere"

    def _many_integers(self, xs: NDArray[Any]) -> NDArray[np.uint8]:
        limits = np.iinfo(xs.dtype)
        whole = (as_integer(x) for x in self.positives)
        keys = [x for x in whole if x is not None and limits.min <= x <= limits.max]
        if len(keys) >= _FEW:
            return np.isin(xs, np.array(keys, dtype=xs.dtype)).view(np.uint8)
        found = np.zeros(len(xs), dtype=bool)
        for key in keys:
            found |= xs == key
        return found.view(np.uint8)


def _where_rare(key: Point, xs: list[Any]) -> NDArray[np.uint8] | None:
    """Return 1 where ``xs`` equals ``key``; None if it occurs too often for this to be fast."""
    found, searched = np.zeros(len(xs), dtype=np.uint8), [*xs, key]
    at = searched.index(key)
    for _ in range(len(xs) // _RARE):
        if at == len(xs):
            return found
        found[at] = 1
        at = searched.index(key, at + 1)
    return None


def votes_on_supports(hypothesis: Hypothesis) -> bool:
    """Return whether it is a vote of hypotheses with finite support."""
    members = getattr(hypothesis, "members", ())
    return bool(members) and all(isinstance(member, FiniteSupport) for member in members)


def support_of(hypothesis: Hypothesis, domain: Domain) -> frozenset[Point]:
    """Return the keys with label 1; scans the domain only if it is bounded."""
    if isinstance(hypothesis, FiniteSupport):
        return hypothesis.positives
    members = getattr(hypothesis, "members", None)
    if members is not None:  # a vote is 1 only where some member is
        keys = frozenset().union(*(support_of(member, domain) for member in members))
        return frozenset(x for x in keys if hypothesis(x))
    if domain.size is None:
        raise ValueError(f"hypothesis must be 1 on finitely many known keys, got {hypothesis!r}")
    return frozenset(x for x in domain if hypothesis(x))
