"""The commands that read and write a durable run: its store, its events, its published file."""
