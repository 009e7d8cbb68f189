"""Learning without privacy: deterministic, mistake-bounded learners."""
