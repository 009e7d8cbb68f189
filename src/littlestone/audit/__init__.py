"""The adaptive two-world game, epsilon lower bounds, and broken variants to catch."""
