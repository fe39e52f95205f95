"""Execution of a campaign's tasks: in this process, or on the workers of a Dask cluster."""

WORKER_IMPORTS = ("schedfarm.farm.execution.worker_imports",)
"""Modules that the workers of a local cluster share."""
