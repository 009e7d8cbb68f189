"""Turn statements of the paper into runs that can contradict them."""
