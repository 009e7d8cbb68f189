"""Golowich and Livni's learners, the paper's predecessors."""
