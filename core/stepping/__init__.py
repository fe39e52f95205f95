"""Simulations as sequences of decisions, for programs that schedule and for learning agents."""
