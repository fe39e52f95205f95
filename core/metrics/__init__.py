"""Metrics: what a schedule cost jobs and users, each by its name."""
