"""Names → recipes: plain dictionaries, so that the command line and the claims share them."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from littlestone import require
from littlestone.adversaries.boundary import Boundary
from littlestone.adversaries.drifting import Drifting
from littlestone.adversaries.frequent_killer import FrequentKiller
from littlestone.adversaries.keep_dimension import KeepDimension
from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.adversaries.random_stream import RandomStream
from littlestone.adversaries.shattered_tree import ShatteredTree
from littlestone.adversaries.spread_mistakes import SpreadMistakes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.game.protocols import Adversary
from littlestone.online.halving import Halving
from littlestone.online.standard_optimal import StandardOptimal

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassEntry:
    """How a concept class is written on the command line."""

    build: Callable[..., ConceptClass]
    arguments: tuple[Callable[[str], Any], ...]
    required: int
    example: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerEntry:
    """A learner that can be built from a class, a horizon and a budget."""

    build: Callable[..., Any]
    private: bool
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdversaryEntry:
    build: Callable[[ConceptClass], Adversary]
    summary: str


def _finite(path: str) -> FiniteClass:
    return FiniteClass(np.loadtxt(Path(path), delimiter=",", ndmin=2))


def _stumps(path: str, depth: int = 1) -> Stumps:
    return Stumps.over(Schema.from_toml(Path(path)), depth=depth)


def _trees(path: str, depth: int = DEEPEST) -> DecisionTrees:
    return DecisionTrees(Schema.from_toml(Path(path)), depth)


def _learner(place: str, **fixed: Any) -> Callable[..., Any]:
    """A builder that imports its learner when it is asked for: most commands need none."""
    module, _, path = place.partition(":")

    def build(concepts: ConceptClass, **budget: Any) -> Any:
        found: Any = import_module(f"littlestone.learners.{module}")
        for name in path.split("."):
            found = getattr(found, name)
        return found(concepts=concepts, **fixed, **budget)

    return build


def _pure(place: str) -> Callable[..., Any]:
    """The same for a learner without delta."""
    build = _learner(place)

    def without_delta(concepts: ConceptClass, *, delta: float, **budget: Any) -> Any:
        require.open_probability(delta=delta)
        return build(concepts, **budget)

    return without_delta


CLASSES: Mapping[str, ClassEntry] = {
    "thresholds": ClassEntry(
        build=Thresholds,
        arguments=(int,),
        required=1,
        example="thresholds:16",
        summary="1[x >= k] on the points 0 .. n-1",
    ),
    "points": ClassEntry(
        build=Points,
        arguments=(int,),
        required=0,
        example="points",
        summary="at most one key maps to 1; any plain key unless a size is given",
    ),
    "sparse-sets": ClassEntry(
        build=SparseSets,
        arguments=(int, int),
        required=1,
        example="sparse-sets:3",
        summary="at most k keys map to 1; any plain key unless a size is given",
    ),
    "intervals": ClassEntry(
        build=Intervals,
        arguments=(int,),
        required=1,
        example="intervals:64",
        summary="1[a <= x <= b] on the points 0 .. n-1, and the empty interval",
    ),
    "conjunctions": ClassEntry(
        build=Conjunctions,
        arguments=(int,),
        required=1,
        example="conjunctions:5",
        summary="conjunctions of literals over n Boolean features, and the empty concept",
    ),
    "stumps": ClassEntry(
        build=_stumps,
        arguments=(str, int),
        required=1,
        example="stumps:schema.toml,2",
        summary="a pool of named rules over records with a declared schema; depth 1 or 2",
    ),
    "trees": ClassEntry(
        build=_trees,
        arguments=(str, int),
        required=1,
        example="trees:schema.toml,3",
        summary="decision trees over records with a declared schema; at most 3 questions deep",
    ),
    "halfspaces": ClassEntry(
        build=MarginHalfspaces,
        arguments=(int, Fraction),
        required=2,
        example="halfspaces:3,1/4",
        summary="halfspaces with a margin; mistake-bounded by the perceptron",
    ),
    "disjunctions": ClassEntry(
        build=MonotoneDisjunctions,
        arguments=(int, int),
        required=2,
        example="disjunctions:3,20",
        summary="x_i or x_j or … of at most k of n Boolean features",
    ),
    "finite": ClassEntry(
        build=_finite,
        arguments=(str,),
        required=1,
        example="finite:matrix.csv",
        summary="a 0/1 matrix, one concept a row, one point a column",
    ),
}

LEARNERS: Mapping[str, LearnerEntry] = {
    "private-majority": LearnerEntry(
        build=_learner("private_majority.recipe:PrivateMajority"),
        private=True,
        summary="the practical default for finite classes; realizable, adaptive adversaries",
    ),
    "lazy-forest": LearnerEntry(
        build=_learner("lazy_forest.recipe:LazyForest.calibrated"),
        private=True,
        summary="the paper's Algorithm 2, calibrated; any Littlestone class of small dimension",
    ),
    "agnostic-finite": LearnerEntry(
        build=_learner("agnostic_finite.recipe:AgnosticFinite"),
        private=True,
        summary="the practical default for noisy data: finite classes, adaptive adversaries",
    ),
    "agnostic-finite-oblivious": LearnerEntry(
        build=_learner("agnostic_finite.recipe:AgnosticFinite", adversary="oblivious"),
        private=True,
        summary="the same with far less regret, if the stream does not react to what is published",
    ),
    "sanitized-batches": LearnerEntry(
        build=_learner("sanitized_batches.recipe:SanitizedBatches"),
        private=True,
        summary="the paper's Algorithm 3: proper, agnostic, by sanitized batches",
    ),
    "sanitized-experts": LearnerEntry(
        build=_learner("sanitized_experts.recipe:SanitizedExperts"),
        private=True,
        summary="the paper's Algorithms 5 to 7: any Littlestone class, agnostic",
    ),
    "disjoint-batches": LearnerEntry(
        build=_pure("disjoint_batches.recipe:DisjointBatches"),
        private=True,
        summary="the practical default for files of records: rules drawn from disjoint batches",
    ),
    "naive-recomposition": LearnerEntry(
        build=_learner("naive_recomposition:NaiveRecomposition"),
        private=True,
        summary="baseline: the exponential mechanism in every round, composed",
    ),
    "eager-forest": LearnerEntry(
        build=_learner("golowich_livni.eager_forest:EagerForest"),
        private=True,
        summary="baseline: Golowich and Livni's forest; accurate against oblivious adversaries",
    ),
    "fresh-copies": LearnerEntry(
        build=_learner("golowich_livni.fresh_copies:FreshCopies"),
        private=True,
        summary="baseline: a fresh eager forest in every round; slow, about the root of the rounds",
    ),
    "standard-optimal": LearnerEntry(
        build=lambda concepts, **_: StandardOptimal(concepts),
        private=False,
        summary="baseline: as few mistakes as anyone, no privacy",
    ),
    "halving": LearnerEntry(
        build=lambda concepts, **_: Halving(concepts),
        private=False,
        summary="baseline: majority of the consistent concepts, no privacy",
    ),
}

ADVERSARIES: Mapping[str, AdversaryEntry] = {
    "mistake-forcing": AdversaryEntry(
        build=lambda concepts: MistakeForcing(concepts=concepts),
        summary="adaptive: forces a mistake whenever a consistent concept allows one",
    ),
    "spread-mistakes": AdversaryEntry(
        build=lambda concepts: SpreadMistakes(concepts=concepts),
        summary="adaptive: forces mistakes and never repeats a point where it can avoid it",
    ),
    "frequent-killer": AdversaryEntry(
        build=lambda concepts: FrequentKiller(concepts=concepts),
        summary="adaptive: attacks the hypotheses published so far in turn",
    ),
    "keep-dimension": AdversaryEntry(
        build=lambda concepts: KeepDimension(concepts=concepts),
        summary="adaptive: keeps the version space's dimension as high as it can",
    ),
    "shattered-tree": AdversaryEntry(
        build=lambda concepts: ShatteredTree(concepts=concepts),
        summary="adaptive: walks down a shattered tree",
    ),
    "boundary": AdversaryEntry(
        build=lambda concepts: Boundary(concepts=concepts),
        summary="adaptive: plays where the published hypothesis changes its mind",
    ),
    "random": AdversaryEntry(
        build=lambda concepts: RandomStream(concepts=concepts),
        summary="oblivious: random points labelled by one concept",
    ),
    "drifting": AdversaryEntry(
        build=lambda concepts: Drifting(concepts=concepts),
        summary="agnostic: the labelling concept changes on a schedule",
    ),
}


def class_from_spec(spec: str) -> ConceptClass:
    """Build a concept class from ``name:args``.

    >>> class_from_spec("thresholds:16").littlestone_dimension
    4
    >>> class_from_spec("treshold:16")
    Traceback (most recent call last):
    ...
    ValueError: unknown class 'treshold'; did you mean 'thresholds'? There are: conjunctions, \
disjunctions, finite, halfspaces, intervals, points, sparse-sets, stumps, thresholds, trees
    """
    name, _, rest = spec.partition(":")
    entry = lookup(CLASSES, name, kind="class")
    given = rest.split(",") if rest else []
    if not entry.required <= len(given) <= len(entry.arguments):
        raise ValueError(f"class {name!r} is written like {entry.example!r}, got {spec!r}")
    try:
        arguments = [read(text) for read, text in zip(entry.arguments, given, strict=False)]
    except ValueError as error:
        raise ValueError(
            f"class {name!r} is written like {entry.example!r}, got {spec!r}: {error}"
        ) from None
    return entry.build(*arguments)


def lookup(table: Mapping[str, Entry], name: str, *, kind: str) -> Entry:
    """The entry called ``name``, or a refusal that lists what there is."""
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise ValueError(f"unknown {kind} {name!r}{hint} There are: {', '.join(sorted(table))}")
