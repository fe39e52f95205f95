"""Off-line scheduling of moldable jobs: all released at time 0, each on any number of processors.

The package is a program of its own, run by `farm offline`: it shares no job, store or metric with
the experiment farm.
"""
