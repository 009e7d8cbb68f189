"""Which sanitizer fits a class: the specialised one where there is one."""

from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer
from littlestone.sanitizers.protocols import Sanitizer
from littlestone.sanitizers.specialised.histogram_sanitizer import HistogramSanitizer
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer


def sanitizer_for(
    concepts: ConceptClass,
    *,
    size: int,
    epsilon: float,
    delta: float,
    labelled: bool = False,
    failure_probability: float = 0.05,
) -> Sanitizer:
    """A sanitizer for ``size`` examples within the budget.

    Histograms for points and sparse sets, trees for thresholds and intervals, and sequential
    fooling for any other finite class.

    >>> type(sanitizer_for(Points(), size=1000, epsilon=1.0, delta=1e-6)).__name__
    'HistogramSanitizer'
    """
    if isinstance(concepts, Points | SparseSets):
        return HistogramSanitizer(
            concepts=concepts, epsilon=epsilon, delta=delta, labelled=labelled
        )
    if isinstance(concepts, Thresholds | Intervals):
        return TreeSanitizer(concepts=concepts, epsilon=epsilon, delta=delta, labelled=labelled)
    return FoolingSanitizer.planned(
        concepts=concepts,
        size=size,
        epsilon=epsilon,
        delta=delta,
        labelled=labelled,
        failure_probability=failure_probability,
    )
