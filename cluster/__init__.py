"""Where tasks run: one function gives a Dask client for a spec."""

from cluster.connect import connect
from cluster.encryption import exposure
from cluster.spec import ClusterError, ClusterSpec

__all__ = ["ClusterError", "ClusterSpec", "connect", "exposure"]
