"""A pool whose nodes belong to partitions that may overlap; a job uses those of its own."""
