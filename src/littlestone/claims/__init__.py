"""Statements of the paper turned into something a run can contradict."""
