"""Sanitizers: private summaries of a dataset that answer every query of a class."""

from littlestone.exports import exports
from littlestone.learners.entry import Part

__getattr__, __dir__ = exports(__name__, __file__)

PARTS = (Part(f"{__name__}.tree_sanitizer:TreeSanitizer"),)
