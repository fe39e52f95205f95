"""Machines: one folder for each, with its platform, kernels and simulation."""
