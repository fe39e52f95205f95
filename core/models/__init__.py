"""Workload models from the literature: parameters in, a `Workload` out."""
