"""Give a Dask client for a spec, and take down afterwards what was put up for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedfarm.cluster.loop import check_loop
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.scratch import KEY, scratch
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def connect(spec: ClusterSpec | str = "local", opening: Opening | None = None) -> Iterator[Client]:
    """Open a client on the cluster that a spec names, and close it at the end.

    Parameters
    ----------
    spec : ClusterSpec or str
        Where to work.
    opening : Opening, optional
        For whom it is opened; by default nobody watches, and what jobs write is in a folder
        ``farm.jobs`` here.

    Yields
    ------
    distributed.Client
        Connected. A cluster that was started here ends with the context; one that was found
        running stays.

    Raises
    ------
    ClusterError
        If there is no such cluster, its launcher's package is missing, other users can write to the
        scratch folder, or Dask's event loop does not start.

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
