"""Hosts: nodes of processors, GPUs and memory, which jobs share."""
