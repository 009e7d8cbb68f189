"""The dual class, whose concepts are the points: x(h) = h(x)."""

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import ConceptClass


@require.checked
def dual(concepts: FiniteClass) -> FiniteClass:
    """The points as concepts over the concepts; points that no concept tells apart are one.

    >>> dual(FiniteClass([[0, 0, 1], [0, 1, 1]])).matrix.tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    return concepts.dual()


@require.checked
def dual_littlestone_dimension(concepts: ConceptClass) -> int:
    """The Littlestone dimension of the dual class."""
    return concepts.dual_littlestone_dimension


@require.checked
def dual_vc_dimension(concepts: ConceptClass) -> int:
    """The VC dimension of the dual class."""
    return concepts.dual_vc_dimension
