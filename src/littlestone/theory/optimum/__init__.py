"""The best private learner of a tiny game, by a linear programme with a rational certificate."""
