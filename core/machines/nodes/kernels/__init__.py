"""Kernels of nodes; a job takes several nodes at once."""
