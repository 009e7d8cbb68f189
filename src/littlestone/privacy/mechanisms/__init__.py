"""Private building blocks, each with its proof beside it."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
