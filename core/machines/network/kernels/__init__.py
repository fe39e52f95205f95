"""Kernels of clusters that are tied by links."""
