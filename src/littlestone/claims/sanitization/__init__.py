"""These claims are about sanitizers and the proper private learners behind them."""
