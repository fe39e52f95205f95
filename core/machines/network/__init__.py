"""Clusters that share jobs over links."""
