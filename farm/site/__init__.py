"""From the dump of a Slurm site to a machine, a policy, and how far they can be trusted."""
