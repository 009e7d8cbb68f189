"""The paper's realizable learner (Algorithms 1 and 2)."""
