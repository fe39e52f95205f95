"""Kernels of clusters connected by links."""
