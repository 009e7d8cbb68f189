"""What is promised to whom: users who are counted, and the book of all stores on one source."""
