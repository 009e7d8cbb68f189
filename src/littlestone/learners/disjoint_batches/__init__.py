"""Rules drawn from disjoint batches: every example is read by one draw."""
