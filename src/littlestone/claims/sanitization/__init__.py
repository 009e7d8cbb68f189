"""Claims about sanitizers and about the proper private learners behind them."""
