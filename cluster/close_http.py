"""Dask preload that closes the HTTP servers of schedulers and workers."""

from __future__ import annotations

from typing import Any


def dask_setup(node: Any) -> None:
    """Stop the HTTP server of a scheduler or worker; Dask calls this function at the start.

    The server requires no authentication, and shows the running tasks to every user of the machine.
    """
    node.http_server.stop()
