"""A durable run learns from a stream of events, survives crashes, and publishes exactly once."""
