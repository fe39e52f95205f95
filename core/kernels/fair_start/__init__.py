"""Fair start times, found on copies of the machine and its queue."""
