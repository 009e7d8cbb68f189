"""The public names of this package; ``__init__.py`` imports each when it is first used."""

from littlestone.concepts.classes.boxes import Boxes as Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions as Conjunctions
from littlestone.concepts.classes.decision_trees import DecisionTrees as DecisionTrees
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions as MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass as FiniteClass
from littlestone.concepts.classes.finite import aggregate as aggregate
from littlestone.concepts.classes.finite import complement as complement
from littlestone.concepts.classes.finite import labelled as labelled
from littlestone.concepts.classes.finite import majority as majority
from littlestone.concepts.classes.finite import union as union
from littlestone.concepts.classes.finite import xor as xor
from littlestone.concepts.classes.halfspaces import MarginHalfspaces as MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals as Intervals
from littlestone.concepts.classes.multiclass import MulticlassTable as MulticlassTable
from littlestone.concepts.classes.sparse_sets import KeySets as KeySets
from littlestone.concepts.classes.sparse_sets import Points as Points
from littlestone.concepts.classes.sparse_sets import SparseSets as SparseSets
from littlestone.concepts.classes.stumps import Stumps as Stumps
from littlestone.concepts.classes.thresholds import Thresholds as Thresholds
from littlestone.concepts.dimensions import (
    littlestone_dimension as littlestone_dimension,
)
from littlestone.concepts.dimensions import vc_dimension as vc_dimension
from littlestone.concepts.domain import RationalBall as RationalBall
from littlestone.concepts.finite_dimensions import Leaf as Leaf
from littlestone.concepts.finite_dimensions import Vertex as Vertex
from littlestone.concepts.finite_dimensions import covering_number as covering_number
from littlestone.concepts.finite_dimensions import dual as dual
from littlestone.concepts.finite_dimensions import (
    dual_littlestone_dimension as dual_littlestone_dimension,
)
from littlestone.concepts.finite_dimensions import dual_vc_dimension as dual_vc_dimension
from littlestone.concepts.finite_dimensions import growth_function as growth_function
from littlestone.concepts.finite_dimensions import (
    randomized_littlestone_dimension as randomized_littlestone_dimension,
)
from littlestone.concepts.finite_dimensions import shattered_tree as shattered_tree
from littlestone.concepts.hypotheses.decision_tree import DecisionTree as DecisionTree
from littlestone.concepts.hypotheses.layered_tree import LayeredTree as LayeredTree
from littlestone.concepts.hypotheses.rules import Rule as Rule
from littlestone.concepts.hypotheses.rules import Scorecard as Scorecard
from littlestone.concepts.hypotheses.rules import Scorecards as Scorecards
from littlestone.concepts.hypotheses.tables import LabelTable as LabelTable
from littlestone.concepts.hypotheses.tables import TableHypothesis as TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote as MajorityVote
from littlestone.concepts.json_form import hypothesis_from_json as hypothesis_from_json
from littlestone.concepts.protocols import ConceptClass as ConceptClass
from littlestone.concepts.protocols import Domain as Domain
from littlestone.concepts.protocols import Hypothesis as Hypothesis
from littlestone.concepts.protocols import OnlineClass as OnlineClass
from littlestone.concepts.schema import Category as Category
from littlestone.concepts.schema import LabelledSchema as LabelledSchema
from littlestone.concepts.schema import Numeric as Numeric
from littlestone.concepts.schema import Schema as Schema

__all__: list[str]
