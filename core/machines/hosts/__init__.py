"""Hosts: nodes with processors, GPUs and memory, which several jobs may share."""
