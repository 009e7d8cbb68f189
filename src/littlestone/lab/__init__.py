"""Claims that runs can contradict, the table of all bounds, and the arena."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
