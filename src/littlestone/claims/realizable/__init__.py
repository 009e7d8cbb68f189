"""These claims are about streams that some concept fits: the forest, its peers, its lemmas."""
