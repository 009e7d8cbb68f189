"""The losses of all concepts of a class on some examples."""
