"""A game has two sides with their protocols, a single loop they meet in, and a record."""
