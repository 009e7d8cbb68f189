"""The arena behind HTTP: its routes and its two pages."""
