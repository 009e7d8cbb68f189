"""Concept classes, hypotheses, version spaces and their dimensions."""
