"""Differentially private online learning against an adaptive adversary."""
