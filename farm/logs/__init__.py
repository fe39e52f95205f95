"""Logs that have names: what is known of them, and how they are fetched."""
