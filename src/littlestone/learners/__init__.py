"""Private online learners, each written as a recipe and an engine."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
