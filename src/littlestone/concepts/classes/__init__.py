"""Concept classes, each with its closed forms."""
