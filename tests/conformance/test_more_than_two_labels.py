"""What is made for two labels rejects a class with more of them, by name, before anything starts.

Its privacy proof or its flip of a label, 1 - y, would say nothing about a third label.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.test_plain_numbers import LINE

import littlestone as ls
from littlestone.choose.auto import auto
from littlestone.choose.catalogue import ADVERSARIES
from littlestone.concepts.domain import IntegerRange
from littlestone.lab.class_floors import mistakes_floor
from littlestone.learners.entry import every_learner
from littlestone.learners.forms import form_of
from littlestone.learners.online.proper import HedgeLearner
from littlestone.learners.sanitizers.choose import sanitizer_for

TABLE = ls.concepts.MulticlassTable([[0, 2, 1], [1, 1, 0], [2, 2, 2], [0, 0, 1]])
TWO = ls.FiniteClass([[0, 0, 1], [0, 1, 1]])
BUDGET: dict[str, Any] = {"rounds": 100, "epsilon": 1.0, "delta": 1e-6}
WHY = (
    "lacks dual_littlestone_dimension, dual_vc_dimension, vc_dimension: these are for two labels; "
    "StandardOptimal learns tables with more of them without privacy"
)

LEARN_MORE = {"standard-optimal"}
FORCE_MORE = {
    "frequent-killer",
    "keep-dimension",
    "mistake-forcing",
    "shattered-tree",
    "spread-mistakes",
}


@pytest.mark.parametrize("name", sorted(every_learner().keys() - LEARN_MORE))
def test_a_learner_for_two_labels_says_so(name: str) -> None:
    entry = every_learner()[name]
    with pytest.raises(ValueError, match=WHY):
        entry.build(TABLE, **BUDGET)


def test_no_private_learner_takes_more() -> None:
    assert not any(every_learner()[name].private for name in LEARN_MORE)


@pytest.mark.parametrize("name", sorted(ADVERSARIES.keys() - FORCE_MORE))
def test_an_adversary_for_two_labels_says_so(name: str) -> None:
    with pytest.raises(ValueError, match=WHY):
        ADVERSARIES[name].build(TABLE)


OTHERS: dict[str, Callable[[Any], Any]] = {
    "auto": lambda table: auto(table, setting="agnostic", adversary="oblivious", **BUDGET),
    "recommend": lambda table: ls.recommend(table, **BUDGET),
    "Request": lambda table: ls.Request(over=table, **BUDGET),
    "Request.from_json": lambda table: ls.Request.from_json({"class": form_of(table), **BUDGET}),
    "sanitizer_for": lambda table: sanitizer_for(table, size=100, epsilon=1.0, delta=1e-6),
    "mistakes_floor": lambda table: mistakes_floor(table, **BUDGET),
    "FiniteClass.from_class": lambda table: ls.FiniteClass.from_class(table),
    "shattered_tree": lambda table: ls.concepts.shattered_tree(table),
    "vc_dimension": lambda table: ls.concepts.vc_dimension(table),
    "dual_vc_dimension": lambda table: ls.concepts.dual_vc_dimension(table),
    "Halving": lambda table: ls.learners.online.Halving(table),
    "SparseMajority": lambda table: ls.learners.online.SparseMajority(table),
    "HedgeLearner": lambda table: HedgeLearner(concepts=table, rounds=9),
}


@pytest.mark.parametrize("name", OTHERS)
def test_so_does_everything_else(name: str) -> None:
    with pytest.raises(ValueError, match=WHY):
        OTHERS[name](TABLE)


BASED: dict[str, Callable[..., Any]] = {
    "LazyForest": ls.LazyForest.calibrated,
    "EagerForest": ls.learners.EagerForest,
    "FreshCopies": ls.learners.FreshCopies,
    "PrivatePrediction": ls.learners.PrivatePrediction,
    "SanitizedExperts": ls.learners.SanitizedExperts,
}


@pytest.mark.parametrize("name", BASED)
def test_a_base_with_more_labels_is_refused(name: str) -> None:
    """Even over the same points: its hypotheses would be counted and published as if binary."""
    assert isinstance(TWO.domain, IntegerRange) and TWO.domain.size == TABLE.domain.size
    with pytest.raises(ValueError, match="base must learn over the domain of concepts"):
        BASED[name](concepts=TWO, base=ls.StandardOptimal(TABLE), **BUDGET)


def test_both_sides_of_a_game_need_the_same_labels() -> None:
    same = ls.concepts.MulticlassTable(TWO.matrix)
    for adversary in (ls.MistakeForcing(TWO), ls.MistakeForcing(LINE)):
        with pytest.raises(ValueError, match="both sides need the same class"):
            ls.play(ls.StandardOptimal(same), adversary, rounds=9, rng=ls.seeded(1))


def test_a_majority_has_two_labels() -> None:
    member = ls.concepts.LabelTable((0, 2), 3)
    with pytest.raises(ValueError, match="members must have two labels, got 3; use WeightedVote"):
        ls.concepts.MajorityVote([member] * 3)


def test_the_finite_class_names_the_one_for_more() -> None:
    with pytest.raises(ValueError, match=r"MulticlassTable takes more labels.*\[0, 1\]=2"):
        ls.FiniteClass([[0, 2]])
