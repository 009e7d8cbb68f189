"""Games in which a person is the adversary of a learner, on made-up data."""
