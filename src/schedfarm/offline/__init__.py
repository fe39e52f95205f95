"""Off-line scheduling of moldable jobs: all are released at time 0, on any number of processors.

The package is a separate program, run by `farm offline`. It shares no job, store or metric with the
experiment farm.
"""
