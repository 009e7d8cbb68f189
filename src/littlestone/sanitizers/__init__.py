"""Private summaries of a dataset that answer every question of a class: sanitizers."""
