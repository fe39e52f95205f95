"""A cluster of pods, which Dask's operator for Kubernetes starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cluster.errors import ClusterError
from cluster.launchers import imported
from cluster.opening import Opening
from cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def pods(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Make a cluster by the operator's own options, or by a manifest, and give a client of it.

    Its scheduler is a pod, too: what this process reads of a store, every pod has to see.

    Raises
    ------
    ClusterError
        If Kubernetes cannot be reached, or refuses it.
    """
    from distributed import Client

    options = {"name": opening.title, **spec.options}
    if "custom_cluster_spec" in spec.options and "name" not in spec.options:
        del options["name"]
    try:
        cluster = imported("dask_kubernetes.operator:KubeCluster")(**options)
    except Exception as error:  # its client has no class of its own for what may be amiss
        raise ClusterError(f"kubernetes: {error}") from None
    with cluster, Client(cluster) as client:
        if spec.minimum is not None:
            cluster.adapt(minimum=spec.minimum, maximum=spec.workers)
        elif spec.workers is not None:
            cluster.scale(spec.workers)
        yield client
