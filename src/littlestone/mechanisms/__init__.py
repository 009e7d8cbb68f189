"""Private building blocks, each with its proof beside it."""
