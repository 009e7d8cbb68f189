"""In sequential fooling a public generator plays against a private discriminator."""
