"""A game has two sides with their protocols, a single loop they meet in, and a record."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
