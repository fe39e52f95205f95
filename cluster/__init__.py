"""Clusters for tasks: `connect` opens a Dask client for a spec."""

from schedfarm.cluster.connect import connect
from schedfarm.cluster.encryption import exposure
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.spec import ClusterSpec

__all__ = ["ClusterError", "ClusterSpec", "Opening", "connect", "exposure"]
