"""Where tasks run: one function gives a Dask client for a spec."""

from cluster.connect import connect
from cluster.encryption import exposure
from cluster.errors import ClusterError
from cluster.opening import Opening
from cluster.spec import ClusterSpec

__all__ = ["ClusterError", "ClusterSpec", "Opening", "connect", "exposure"]
