"""Plans: how a campaign's store is laid out, and the tasks that fill it."""
