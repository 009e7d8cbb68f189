"""Prediction from experts, the experts being the concepts of a finite class."""
