"""Private prediction: the answer to a question goes to whoever asked it, and nobody else."""
