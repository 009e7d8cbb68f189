"""A durable run learns from a stream of events, survives crashes, and publishes exactly once."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
