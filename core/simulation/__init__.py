"""Simulations: from a workload and a policy to starts, and to fair start times."""
