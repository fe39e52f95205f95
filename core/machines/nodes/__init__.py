"""Nodes with several processors and properties."""
