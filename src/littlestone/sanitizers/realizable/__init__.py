"""A realizable sanitizer tells which concepts hold on much of the data, and which on none."""
