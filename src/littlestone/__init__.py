"""Differentially private online learning against an adaptive adversary.

The package exports the names that most users need; all others are in subpackages, as in
``ls.mechanisms.AboveThreshold`` or ``ls.adversaries.ShatteredTree``.
"""

from littlestone.exports import exports

__version__ = "0.1.0"

__getattr__, __dir__ = exports(__name__, __file__)
