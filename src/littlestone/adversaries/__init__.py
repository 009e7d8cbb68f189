"""Those who choose the examples."""
