"""The protocols of the two sides, the single loop they meet in, and its record."""
