"""Logs: formats, cleaning of rows into jobs, and schedules recorded in logs."""
