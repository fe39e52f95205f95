"""Progress of runs and status of stores, for people and for programs."""
