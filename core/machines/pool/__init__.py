"""One pool of processors."""
