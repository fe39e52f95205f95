"""Readers of the files of a dump of a Slurm site; `kinds` has one row per file."""
