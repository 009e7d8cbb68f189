"""What is promised and what is spent: guarantees, composition, the ledger."""
