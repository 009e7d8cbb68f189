"""The command line is a thin layer: a command reads options, calls the library, prints."""
