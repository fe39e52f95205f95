"""Logs: the formats that are read, what a row becomes, and schedules that logs tell."""
