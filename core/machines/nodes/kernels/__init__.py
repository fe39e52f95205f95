"""Kernels of nodes; a job takes several of them at once."""
