"""Carastan-Santos et al., CCGrid 2019: their figures and tables, from a store."""
