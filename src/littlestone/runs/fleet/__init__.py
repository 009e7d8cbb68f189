"""Learners by the million: one run for each public key, on engines that already exist."""
