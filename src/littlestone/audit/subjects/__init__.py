"""Subjects: correct mechanisms and learners, each with its strongest known adversary."""
