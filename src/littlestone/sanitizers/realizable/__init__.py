"""Realizable sanitization: which concepts hold on much of the data, which on none."""
