"""Each bound of the paper, of its peers and of ours is one function with explicit constants."""
