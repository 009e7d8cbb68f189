"""A published set of keys, learned from private reports and complaints."""
