"""Every bound becomes a number here, at one setting of rounds, budget and sizes."""
