"""Platforms: the machines that jobs run on, as values that travel with a workload."""
