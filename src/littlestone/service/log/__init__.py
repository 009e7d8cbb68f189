"""The log of events inside a store: what was taken, exactly once, and the hashes over it."""
