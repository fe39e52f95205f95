"""Dask's dashboard and performance report, which need bokeh."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client


def check_bokeh(spec: ClusterSpec, report: Path | None, *, dashboard: bool) -> None:
    """Refuse a dashboard or report that cannot be shown, before anything runs."""
    if find_spec("bokeh") is None:
        raise ClusterError(
            "--dashboard and --performance-report need bokeh; pip install 'schedfarm[dashboard]'"
        )
    if dashboard and not spec.launcher.ours:
        raise ClusterError(
            f"--dashboard is for a scheduler that this command starts; {spec.name} has its own"
        )
    if report is not None and not report.parent.is_dir():
        raise ClusterError(f"report {report}: the folder {report.parent} does not exist")


def seen_at(client: Client) -> str:
    """Return the dashboard's address, with a command to reach it from another machine.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> seen_at(SimpleNamespace(dashboard_link="http://127.0.0.1:87/status")).rpartition(" ")[0]
    'http://127.0.0.1:87/status; from another machine: ssh -N -L 87:127.0.0.1:87'
    """
    link = client.dashboard_link
    port = urlsplit(link).port
    return f"{link}; from another machine: ssh -N -L {port}:127.0.0.1:{port} {platform.node()}"


@contextmanager
def reported(client: Client, path: Path | None) -> Iterator[None]:
    """Write Dask's performance report of this context to a path; do nothing without a path."""
    if path is None:
        yield
        return
    from distributed import performance_report

    with performance_report(filename=str(path)):
        yield
