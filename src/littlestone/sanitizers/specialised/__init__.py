"""Sanitizers for points, sparse sets, thresholds and intervals."""
