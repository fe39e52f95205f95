"""A pool whose nodes belong to partitions that may overlap; a job uses nodes of its own one."""
