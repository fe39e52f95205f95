"""Policies: queue orders, backfilling rules and options, by name."""
