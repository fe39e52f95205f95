"""Off-line scheduling of moldable jobs: all released at time 0, each on any number of processors.

The package is a separate program, run by `farm offline`: it shares no job, store or metric with
the experiment farm.
"""
