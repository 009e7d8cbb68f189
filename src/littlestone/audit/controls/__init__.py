"""What must be caught: mechanisms and learners that are wrong in one place each."""
