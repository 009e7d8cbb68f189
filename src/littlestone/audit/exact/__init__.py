"""Exact privacy curves: all coins of a run enumerated, probabilities added up in rationals."""
