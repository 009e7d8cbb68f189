"""These claims are about the mechanisms that learners are built from."""
