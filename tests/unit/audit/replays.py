"""Neighbouring streams to replay learners on, and small forests whose slots are all in place.

Streams are arbitrary, so most of them fit no concept. Forests are replayed with the reference that
writes every sequence out (``forest_array.py``), since coupled worlds share slots, not counts.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.forest_array import ForestArray

from littlestone.audit.substitution import Place
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.protocols import OnlineState
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

Stream = list[tuple[int, int]]
# Mostly mistakes of one kind, so that sequences agree and lists have members.
EXAMPLES = st.one_of(
    st.just((2, 1)),
    st.just((2, 1)),
    st.sampled_from([(0, 1), (1, 0)]),
    st.tuples(st.integers(0, 5), st.integers(0, 1)),
)


def streams(length: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Neighbouring streams and a seed for the coins."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        examples = given(
            stream=st.lists(EXAMPLES, min_size=length, max_size=length),
            changed=st.integers(0, length - 1),
            instead=EXAMPLES,
            seed=st.integers(0, 2**32),
        )
        return settings(max_examples=settings().max_examples // 2)(examples(test))

    return decorate


class Living(Counter[OnlineState]):
    """The children of a layer, still knowing their slots."""

    sequences: list[Any]


class ArrayForest(ForestArray):
    """The reference with the interface of the table, all slots in place."""

    def __init__(self, sequences: list[Any] | None = None, *, packed: bool = False) -> None:
        super().__init__(sequences or [], packed=packed)

    @classmethod
    def of_empty_sequences(cls, start: OnlineState, *, pairs: int, **_: Any) -> "ArrayForest":
        return cls([start] * (2 * pairs))

    @classmethod
    def placed(cls, children: Any, *, rng: Randomness, **_: Any) -> "ArrayForest":
        slots = cls.permutation(len(children.sequences), rng)
        sequences = [None] * len(slots)
        for child, slot in zip(children.sequences, slots, strict=True):
            sequences[slot] = child
        return cls(sequences)

    @staticmethod
    def permutation(count: int, rng: Randomness) -> list[int]:
        order: list[int] = rng.permutation(count).tolist()
        return order

    def insert(self, *arguments: Any, **named: Any) -> Any:
        return super().insert(*arguments, **named)

    def update(self, *, rng: Randomness) -> Any:
        sequences = super().update(rng=rng)
        living = Living(child for child in sequences if child is not None)
        living.sequences = sequences
        return living


PLACES: tuple[Place, ...] = (
    (ArrayForest, "insert"),
    (ArrayForest, "update"),
    (ArrayForest, "placed"),
)


def small_forest(**changes: Any) -> LazyForest:
    """Dimension 2, with so much budget that the lists of few pairs have members."""
    cost = PrivacyGuarantee(epsilon=6.0, delta=0.2)
    settings: dict[str, Any] = {
        "concepts": Thresholds(6),
        "rounds": 10_000,
        "epsilon": 16.0,
        "delta": 0.4,
        "base": StandardOptimal(Thresholds(6)),
        "slots": 32,
        "packed": False,
        "mistakes_per_layer": (24, 8, 2),
        "mistakes_per_slot": (4.0, 4.0),
        "margins": (1, 1, 1),
        "list_thresholds": (2, 2),
        "budgets": ForestBudgets.from_listing((cost, cost), epsilon=16.0),
        "early_release": False,
    }
    chosen = {**settings, **changes}
    numbers = {entry.name: chosen.pop(entry.name) for entry in fields(ForestPlan) if entry.init}
    return LazyForest(plan=ForestPlan(**numbers), **chosen)


def points_forest() -> LazyForest:
    """Early release: a key that occurred a few times is published."""
    cost = PrivacyGuarantee(epsilon=4.0, delta=0.3)
    return small_forest(
        concepts=Points(),
        base=StandardOptimal(Points()),
        rounds=100,
        epsilon=4.0,
        slots=16,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(1, 1),
        list_thresholds=(2,),
        budgets=ForestBudgets(switching=(0.0, 4.0), listing=(cost,)),
        early_release=True,
    )
