"""Kernels of platforms that are several clusters."""
