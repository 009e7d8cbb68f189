"""Adversaries choose the examples."""
