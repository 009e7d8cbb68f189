"""Claims about streams that some concept fits: the forest, its peers and its lemmas."""
