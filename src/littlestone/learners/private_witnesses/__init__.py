"""Private learning from witnesses: a noisy counter for each, and nothing is composed."""
