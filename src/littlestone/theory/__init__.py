"""Each bound of the paper, of its peers and of ours is one function with explicit constants."""

from littlestone.exports import exports
from littlestone.theory.optimum.mistakes import optimal_mistakes as optimal_mistakes

__getattr__, __dir__ = exports(__name__, __file__)
