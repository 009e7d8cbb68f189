"""Private prediction: each answer goes only to the user who asked."""
