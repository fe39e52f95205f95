"""Kernels of platforms that are nodes, of which a job takes several at once."""
