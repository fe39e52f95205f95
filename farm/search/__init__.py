"""Policy search: orders are optimised on training weeks, and judged on held-out weeks."""
