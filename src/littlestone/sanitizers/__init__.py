"""A sanitizer is a private summary of a dataset that answers every question of a class."""
