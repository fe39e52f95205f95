"""Campaigns: the description of an experiment, and the jobs of its cells."""
