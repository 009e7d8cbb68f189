"""Points, sparse sets, thresholds and intervals have sanitizers of their own."""
