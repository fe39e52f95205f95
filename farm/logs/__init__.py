"""Named logs: the registry, and fetching."""
