"""Reference of networks: the rules, and the effect of links on co-allocated jobs."""
