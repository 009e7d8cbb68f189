"""Who counts as a neighbour: the change of one person's data that must stay hidden."""

from enum import Enum


class Neighbours(Enum):
    """Relations between two inputs that a guarantee may speak about.

    Streams are compared with ``REPLACE_ONE``: every round has an example, so leaving a person
    out means that something else stands in the same round. Removing and adding makes a
    replacement, hence a guarantee for ``ADD_REMOVE_ONE`` holds for ``REPLACE_ONE`` at the price
    of a group of two (``privacy.group``).

    >>> Neighbours.REPLACE_ONE
    Neighbours.REPLACE_ONE
    >>> print(Neighbours.ADD_REMOVE_ONE)
    inputs that differ by adding or removing one element
    """

    REPLACE_ONE = "inputs of equal length that differ in one element"
    ADD_REMOVE_ONE = "inputs that differ by adding or removing one element"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"Neighbours.{self.name}"
