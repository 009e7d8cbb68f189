"""Sanitizers of whole streams."""
