"""Metrics of schedules, by name."""
