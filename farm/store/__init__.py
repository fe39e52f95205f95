"""The store: its description, arrays, records and summary on the disk."""
