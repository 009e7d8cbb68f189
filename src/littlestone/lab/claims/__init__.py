"""Statements of the paper are turned into runs here, which can contradict them."""
