"""Watching: how far a run or a store is, for people and for programs."""
