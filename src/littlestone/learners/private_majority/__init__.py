"""Majorities of privately drawn concepts: the practical realizable learner."""
