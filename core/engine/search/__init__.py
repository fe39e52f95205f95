"""Plans on clusters, and the search for a better one."""
