"""Durable runs: learn from a stream of events, survive crashes, publish exactly once."""
