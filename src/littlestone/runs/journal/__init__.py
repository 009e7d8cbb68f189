"""Store the events and releases of a durable run: one protocol, several implementations."""
