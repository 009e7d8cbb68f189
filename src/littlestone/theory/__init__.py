"""One function per bound of the paper and of its peers."""
