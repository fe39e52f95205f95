"""The reference of networks: its rules, and the effect of links on co-allocated jobs."""
