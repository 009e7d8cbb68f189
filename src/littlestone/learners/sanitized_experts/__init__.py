"""The paper's agnostic learner (Algorithms 5 to 7)."""
