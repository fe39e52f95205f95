"""Preloaded by a local cluster that nobody watches: without a page there is nothing to overhear."""

from __future__ import annotations

from typing import Any


def dask_setup(node: Any) -> None:
    """End the HTTP server that Dask gives every scheduler and worker; it calls this at the start.

    That server asks nobody who he is, and tells what runs to every user of the machine.
    """
    node.http_server.stop()
