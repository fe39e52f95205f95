"""Execution of a campaign's tasks: in this process, or on the workers of a Dask cluster."""
