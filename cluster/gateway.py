"""A cluster from a Dask Gateway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.launchers import imported
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def from_gateway(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Request a cluster with certificates from a gateway, and yield a client."""
    try:
        cluster = imported("dask_gateway:GatewayCluster")(**spec.options)
    except Exception as error:  # its HTTP client raises errors of many kinds
        raise ClusterError(f"gateway: {error}") from None
    with cluster, cluster.get_client() as client:
        if spec.minimum is not None:
            cluster.adapt(minimum=spec.minimum, maximum=spec.workers)
        else:
            cluster.scale(spec.workers or 1)
        yield client
