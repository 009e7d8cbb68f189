"""Predict privately from experts: play one, then see the losses of all."""
