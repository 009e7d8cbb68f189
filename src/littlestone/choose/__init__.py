"""What a person asks for, and the learner that answers it."""
