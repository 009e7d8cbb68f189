"""Provide the command line, a thin layer: a command reads options, calls the library, prints."""
