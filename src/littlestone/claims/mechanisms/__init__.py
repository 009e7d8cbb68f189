"""Claims about the mechanisms that learners are built from."""
