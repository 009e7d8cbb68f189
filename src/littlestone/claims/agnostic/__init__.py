"""Claims about streams that no concept need fit: experts, batches and constructed experts."""
