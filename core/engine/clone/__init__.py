"""Fair start times, found on clones of the machine and its queue."""
