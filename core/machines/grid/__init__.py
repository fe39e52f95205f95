"""Clusters next to each other."""
