"""Read what arrives: sources of rows, cells of a schema, events, and their users."""
