"""Kernels of plans on clusters, and of their search for a better one."""
