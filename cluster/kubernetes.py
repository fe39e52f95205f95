"""A cluster of pods that Dask's operator for Kubernetes starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.launchers import imported
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client

LONGEST_NAME = 40
"""Longest name: names of services have at most 63 characters, and the operator adds some."""


@contextmanager
def pods(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Create a cluster from the operator's options or from a manifest, and yield a client.

    The scheduler is a pod, too. Every pod therefore needs access to the files of the store that
    this process reads.
    """
    from distributed import Client

    options = {"name": _name(opening.title), **spec.options}
    if "custom_cluster_spec" in spec.options and "name" not in spec.options:
        del options["name"]
    try:
        cluster = imported("dask_kubernetes.operator:KubeCluster")(**options)
    except Exception as error:  # its client has no exception class
        raise ClusterError(f"kubernetes: {error}") from None
    with cluster, Client(cluster) as client:
        if spec.minimum is not None:
            cluster.adapt(minimum=spec.minimum, maximum=spec.workers)
        elif spec.workers is not None:
            cluster.scale(spec.workers)
        yield client


def _name(title: str) -> str:
    """Return a title as a valid prefix of resource names.

    Examples
    --------
    >>> _name("farm-KTH_2.1")
    'farm-kth-2-1'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower())[:LONGEST_NAME].strip("-")
