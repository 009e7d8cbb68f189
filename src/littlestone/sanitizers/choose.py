"""Which sanitizer fits a class: the specialised one where there is one."""

from littlestone import require
from littlestone.concepts.capabilities import FewOnes, OnALine
from littlestone.concepts.protocols import ConceptClass
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer
from littlestone.sanitizers.protocols import Sanitizer
from littlestone.sanitizers.specialised.histogram_sanitizer import HistogramSanitizer
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer


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
    """A sanitizer for ``size`` examples within the budget.

    Histograms for points and sparse sets, trees for thresholds and intervals and what else
    seldom changes along a line, and sequential fooling for any other finite class.

    >>> from littlestone.concepts.classes.points import Points
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
