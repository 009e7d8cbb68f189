"""Names → recipes: plain dictionaries, so that the command line and the claims share them."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from littlestone.adversaries.boundary import Boundary
from littlestone.adversaries.contradiction import Contradiction, FreeLabels, NoisyBoundary
from littlestone.adversaries.drifting import Drifting
from littlestone.adversaries.frequent_killer import FrequentKiller
from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.adversaries.random_stream import HiddenOnes, RandomStream
from littlestone.adversaries.shattered_tree import CoinTree, ShatteredTree
from littlestone.adversaries.spreading import KeepDimension, SpreadMistakes
from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.decision_trees import DEEPEST, DecisionTrees
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import KeySets, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.game.protocols import Adversary

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """How a concept class is written on the command line."""

    build: Callable[..., ConceptClass]
    example: str
    summary: str
    arguments: tuple[Callable[[str], Any], ...] = (int,)
    required: int = 1


@dataclass(frozen=True, slots=True)
class LearnerEntry:
    """A learner that can be built from a class, a horizon and a budget.

    ``place`` says where it is, so that it is imported when it is asked for: most commands need
    none. Learners that are not private take nothing but the class.
    """

    place: str
    summary: str
    private: bool = True
    needs_rounds: bool = True
    needs_delta: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def makes(self) -> str:
        """The name of the class of its recipes."""
        return self.place.partition(":")[2].partition(".")[0]

    def build(self, concepts: ConceptClass, *, delta: float, **budget: Any) -> Any:
        module, _, path = self.place.partition(":")
        found: Any = import_module(f"littlestone.{module}")
        for name in path.split("."):
            found = getattr(found, name)
        if not self.private:
            return found(concepts)
        if self.needs_delta:
            budget["delta"] = delta
        return found(concepts=concepts, **self.fixed, **budget)


@dataclass(frozen=True, slots=True)
class AdversaryEntry:
    build: Callable[[ConceptClass], Adversary]
    summary: str


def _finite(path: str) -> FiniteClass:
    return FiniteClass(np.loadtxt(Path(path), delimiter=",", ndmin=2))


def _stumps(path: str, depth: int = 1) -> Stumps:
    return Stumps(Schema.from_toml(Path(path)), depth=depth)


def _trees(path: str, depth: int = DEEPEST) -> DecisionTrees:
    return DecisionTrees(Schema.from_toml(Path(path)), depth)


CLASSES: Mapping[str, ClassEntry] = {
    "thresholds": ClassEntry(Thresholds, "thresholds:16", "1[x >= k] on the points 0 .. n-1"),
    "points": ClassEntry(
        Points,
        "points",
        "at most one key maps to 1; any plain key unless a size is given",
        required=0,
    ),
    "sparse-sets": ClassEntry(
        SparseSets,
        "sparse-sets:3",
        "at most k keys map to 1; any plain key unless a size is given",
        (int, int),
    ),
    "keys": ClassEntry(KeySets, "keys", "any finite set of keys maps to 1", (), required=0),
    "intervals": ClassEntry(
        Intervals, "intervals:64", "1[a <= x <= b] on the points 0 .. n-1, and the empty interval"
    ),
    "boxes": ClassEntry(
        Boxes,
        "boxes:2,64",
        "axis-parallel boxes in k <= 4 dimensions, coordinates 0 .. n-1, and the empty box",
        (int, int),
        required=2,
    ),
    "conjunctions": ClassEntry(
        Conjunctions,
        "conjunctions:5",
        "conjunctions of literals over n Boolean features, and the empty concept",
    ),
    "stumps": ClassEntry(
        _stumps,
        "stumps:schema.toml,2",
        "a pool of named rules over records with a declared schema; depth 1 or 2",
        (str, int),
    ),
    "trees": ClassEntry(
        _trees,
        "trees:schema.toml,3",
        "decision trees over records with a declared schema; at most 3 questions deep",
        (str, int),
    ),
    "halfspaces": ClassEntry(
        MarginHalfspaces,
        "halfspaces:3,1/4",
        "halfspaces with a margin; mistake-bounded by the perceptron",
        (int, Fraction),
        required=2,
    ),
    "disjunctions": ClassEntry(
        MonotoneDisjunctions,
        "disjunctions:3,20",
        "x_i or x_j or … of at most k of n Boolean features",
        (int, int),
        required=2,
    ),
    "finite": ClassEntry(
        _finite, "finite:matrix.csv", "a 0/1 matrix, one concept a row, one point a column", (str,)
    ),
}

LEARNERS: Mapping[str, LearnerEntry] = {
    "private-majority": LearnerEntry(
        "learners.private_majority.recipe:PrivateMajority",
        "the practical default for finite classes; realizable, adaptive adversaries",
    ),
    "private-witnesses": LearnerEntry(
        "learners.private_witnesses.recipe:PrivateWitnesses",
        "conjunctions, disjunctions, thresholds, intervals, boxes; realizable, purely private",
    ),
    "private-keys": LearnerEntry(
        "learners.private_keys.recipe:PrivateKeys",
        "sets of keys, however many, over any universe: blocklists; adaptive adversaries",
    ),
    "lazy-forest": LearnerEntry(
        "learners.lazy_forest.recipe:LazyForest.calibrated",
        "the paper's Algorithm 2, calibrated; any Littlestone class of small dimension",
    ),
    "agnostic-finite": LearnerEntry(
        "learners.agnostic_finite.recipe:AgnosticFinite",
        "the practical default for noisy data: finite classes, adaptive adversaries",
    ),
    "agnostic-finite-oblivious": LearnerEntry(
        "learners.agnostic_finite.recipe:AgnosticFinite",
        "the same with far less regret, if the stream does not react to what is published",
        fixed={"adversary": "oblivious"},
    ),
    "sanitized-batches": LearnerEntry(
        "learners.sanitized_batches.recipe:SanitizedBatches",
        "the paper's Algorithm 3: proper, agnostic, by sanitized batches",
    ),
    "sanitized-experts": LearnerEntry(
        "learners.sanitized_experts.recipe:SanitizedExperts",
        "the paper's Algorithms 5 to 7: any Littlestone class, agnostic",
    ),
    "disjoint-batches": LearnerEntry(
        "learners.disjoint_batches.recipe:DisjointBatches",
        "the practical default for files of records: rules drawn from disjoint batches",
        needs_rounds=False,
        needs_delta=False,
    ),
    "private-linear": LearnerEntry(
        "learners.private_linear.recipe:PrivateLinear",
        "logistic regression on noisy sums: for records whose fields add up",
    ),
    "naive-recomposition": LearnerEntry(
        "learners.naive_recomposition:NaiveRecomposition",
        "baseline: the exponential mechanism in every round, composed",
    ),
    "eager-forest": LearnerEntry(
        "learners.golowich_livni.eager_forest:EagerForest",
        "baseline: Golowich and Livni's forest; accurate against oblivious adversaries",
    ),
    "fresh-copies": LearnerEntry(
        "learners.golowich_livni.fresh_copies:FreshCopies",
        "baseline: a fresh eager forest in every round; slow, about the root of the rounds",
    ),
    "standard-optimal": LearnerEntry(
        "online.standard_optimal:StandardOptimal",
        "baseline: as few mistakes as anyone, no privacy",
        private=False,
    ),
    "halving": LearnerEntry(
        "online.halving:Halving",
        "baseline: majority of the consistent concepts, no privacy",
        private=False,
    ),
}

ADVERSARIES: Mapping[str, AdversaryEntry] = {
    "mistake-forcing": AdversaryEntry(
        MistakeForcing, "adaptive: forces a mistake whenever a consistent concept allows one"
    ),
    "spread-mistakes": AdversaryEntry(
        SpreadMistakes, "adaptive: forces mistakes and never repeats a point where it can avoid it"
    ),
    "frequent-killer": AdversaryEntry(
        FrequentKiller, "adaptive: attacks the hypotheses published so far in turn"
    ),
    "keep-dimension": AdversaryEntry(
        KeepDimension, "adaptive: keeps the version space's dimension as high as it can"
    ),
    "shattered-tree": AdversaryEntry(ShatteredTree, "adaptive: walks down a shattered tree"),
    "coin-tree": AdversaryEntry(
        CoinTree, "oblivious: walks down a shattered tree by coins, each vertex many times"
    ),
    "hidden-ones": AdversaryEntry(
        HiddenOnes, "oblivious: zeros at fresh points, and ones for a while at a random time"
    ),
    "boundary": AdversaryEntry(
        Boundary, "adaptive: plays where the published hypothesis changes its mind"
    ),
    "random": AdversaryEntry(RandomStream, "oblivious: random points labelled by one concept"),
    "drifting": AdversaryEntry(Drifting, "agnostic: the labelling concept changes on a schedule"),
    "noisy-boundary": AdversaryEntry(
        NoisyBoundary, "agnostic, adaptive: plays where the hypothesis errs, with noisy labels"
    ),
    "free-labels": AdversaryEntry(
        FreeLabels, "agnostic, adaptive: always the label that the hypothesis does not have"
    ),
    "contradiction": AdversaryEntry(
        Contradiction, "agnostic, adaptive: the unlikelier label at one point, again and again"
    ),
}


def class_from_spec(spec: str) -> ConceptClass:
    """Build a concept class from ``name:args``.

    >>> class_from_spec("thresholds:16").littlestone_dimension
    4
    >>> class_from_spec("treshold:16")
    Traceback (most recent call last):
    ...
    ValueError: unknown class 'treshold'; did you mean 'thresholds'? There are: boxes, \
conjunctions, disjunctions, finite, halfspaces, intervals, keys, points, sparse-sets, stumps, \
thresholds, trees
    """
    name, _, rest = spec.partition(":")
    entry = lookup(CLASSES, name, kind="class")
    given = rest.split(",") if rest else []
    if not entry.required <= len(given) <= len(entry.arguments):
        raise ValueError(f"class {name!r} is written like {entry.example!r}, got {spec!r}")
    try:
        arguments = [read(text) for read, text in zip(entry.arguments, given, strict=False)]
    except (ValueError, ZeroDivisionError) as error:
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
