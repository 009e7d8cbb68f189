"""Private online learners."""
