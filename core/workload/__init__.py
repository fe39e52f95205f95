"""Workloads: the jobs that users submitted, how they are chosen, drawn anew and scaled."""
