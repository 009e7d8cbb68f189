"""The paper's proper agnostic learner (Algorithm 3)."""
