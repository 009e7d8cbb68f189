"""Private proper learners: they learn one concept of the class from a dataset."""

from littlestone.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
