"""Private online learners live here, each as a recipe and an engine."""
