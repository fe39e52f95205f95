"""Machines that jobs run on: a folder each, with its platform, kernels and simulation."""
