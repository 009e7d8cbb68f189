"""A service: durable runs behind HTTP, a live page of what they publish, and an arena."""
