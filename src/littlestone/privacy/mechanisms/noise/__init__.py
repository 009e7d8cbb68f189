"""Exact samplers of discrete noise, in whole numbers."""
