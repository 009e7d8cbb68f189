"""These claims are about streams that no concept need fit: experts, batches, constructions."""
