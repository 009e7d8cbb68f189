"""Who counts as a neighbour: the change of one element that must stay hidden.

``replace``     inputs of equal length that differ in one element; streams are compared like this,
                because every round has an example
``add-remove``  inputs that differ by adding or removing one element; a replacement is one of each,
                so it is a group of two (``privacy.group``)
"""

from typing import Literal

Neighbours = Literal["add-remove", "replace"]
