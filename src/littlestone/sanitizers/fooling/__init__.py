"""Sequential fooling: a public generator against a private discriminator."""
