"""A person is the adversary: games against learners, on made-up data."""
