"""Nodes of several processors, with properties."""
