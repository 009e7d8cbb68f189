"""The adaptive two-world game, epsilon lower bounds, and broken variants to catch."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
