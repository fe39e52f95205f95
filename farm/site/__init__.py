"""Calibration of a Slurm site: from its dump to a machine, a policy, and their accuracy."""
