"""Logs: formats, cleaning of rows, and schedules recorded in logs."""
