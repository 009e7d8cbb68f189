"""Each bound of the paper, related work or this project is a function with explicit constants."""

from littlestone.exports import exports
from littlestone.theory.optimum.mistakes import optimal_mistakes as optimal_mistakes

__getattr__, __dir__ = exports(__name__, __file__)
