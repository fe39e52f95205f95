"""The reference of networks: its rules, and what links make of co-allocated jobs."""
