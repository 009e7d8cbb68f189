"""What each route does, by who may use it: readers, writers, and both of a fleet."""
