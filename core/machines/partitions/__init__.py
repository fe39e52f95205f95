"""Pool with nodes in partitions that may overlap; a job uses nodes of its partition."""
