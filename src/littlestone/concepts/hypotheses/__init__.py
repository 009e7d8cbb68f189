"""Hypotheses: functions from points to labels, as values."""
