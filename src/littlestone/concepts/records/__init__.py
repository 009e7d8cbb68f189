"""Records and their declared fields, including parts of dates."""
