"""Exact privacy curves: enumerate all coins of a run and add up rational probabilities."""
