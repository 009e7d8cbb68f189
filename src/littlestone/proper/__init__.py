"""Private proper learners: a dataset in, one concept of the class out."""
