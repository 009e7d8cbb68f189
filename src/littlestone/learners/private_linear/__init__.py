"""Online logistic regression on noisy sums of clipped gradients, in whole numbers."""
