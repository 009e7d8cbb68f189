"""Describe a request, and choose the learner for it."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
