"""Policy search: orders that are optimised on training weeks and judged on held-out ones."""
