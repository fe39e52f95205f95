"""Workloads: submitted jobs, their selection, resampling and scaling."""
