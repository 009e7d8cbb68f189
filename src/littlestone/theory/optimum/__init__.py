"""Compute the best private learner of a tiny game, with a rational certificate."""
