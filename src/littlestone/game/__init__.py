"""Games: the protocols of both sides, the loop, and the transcript."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
