"""Plans: the layout of a campaign's store, and the tasks that fill it."""
