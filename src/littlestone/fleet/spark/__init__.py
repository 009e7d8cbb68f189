"""A fleet on Apache Spark: states in its checkpoint, releases in a folder, a mark beside both."""
