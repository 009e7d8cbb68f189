"""These sanitizers read whole streams."""
