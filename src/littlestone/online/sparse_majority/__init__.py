"""A mistake-bounded learner whose predictors are majorities of few concepts."""
