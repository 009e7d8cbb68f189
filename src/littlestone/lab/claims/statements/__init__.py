"""One module for each claim; its ``claim`` is what the registry finds."""
