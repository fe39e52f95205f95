"""Moldable jobs off line: all there from the beginning, each on as many processors as is chosen."""
