"""Open a Dask client for a spec, and close the cluster that was started for the client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedfarm.cluster.opening import Opening, check_loop
from schedfarm.cluster.scratch import KEY, scratch
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def connect(spec: ClusterSpec | str = "local", opening: Opening | None = None) -> Iterator[Client]:
    """Open a client on the cluster that a spec describes, and close it at the end.

    Parameters
    ----------
    spec : ClusterSpec or str
        The cluster.
    opening : Opening, optional
        Settings of this run; by default without a dashboard, and with the output of jobs in the
        folder ``farm.jobs``.

    Yields
    ------
    distributed.Client
        A connected client. A cluster that was started by this call ends with the context; an
        existing cluster continues.

    Raises
    ------
    ClusterError
        If the cluster does not answer, its launcher's package is missing, other users can write to
        the scratch folder, or Dask's event loop does not start.

    Examples
    --------
    >>> from schedfarm.cluster import connect
    >>> with connect("local") as client:  # doctest: +SKIP
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    import dask

    if isinstance(spec, str):
        spec = ClusterSpec.parse(spec)
    spec.launcher.check_package(spec.kind)
    check_loop()
    opened = spec.launcher.open()(spec, opening or Opening())
    with dask.config.set({KEY: str(scratch())}), opened as client:
        yield client
