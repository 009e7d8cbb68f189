"""Littlestone, VC and other dimensions, and the trees behind them."""
