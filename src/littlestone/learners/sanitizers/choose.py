"""Choose the sanitizer that fits a class."""

from littlestone import require
from littlestone.concepts.capabilities import FewOnes, OnALine
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.protocols import Sanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer


@require.checked
def sanitizer_for(
    concepts: ConceptClass,
    *,
    size: int,
    epsilon: float,
    delta: float,
    labelled: bool = False,
    failure_probability: float = 0.05,
) -> Sanitizer:
    """Return a sanitizer for ``size`` examples within the budget.

    Histograms for points and sparse sets; trees for thresholds, intervals and other classes that
    rarely change along a line; sequential fooling for any other finite class.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> type(sanitizer_for(Points(), size=1000, epsilon=1.0, delta=1e-6)).__name__
    'HistogramSanitizer'
    """
    if isinstance(concepts, FewOnes):
        return HistogramSanitizer(
            concepts=concepts, epsilon=epsilon, delta=delta, labelled=labelled
        )
    if isinstance(concepts, OnALine):
        return TreeSanitizer(concepts=concepts, epsilon=epsilon, delta=delta, labelled=labelled)
    return FoolingSanitizer.planned(
        concepts=concepts,
        size=size,
        epsilon=epsilon,
        delta=delta,
        labelled=labelled,
        failure_probability=failure_probability,
    )
