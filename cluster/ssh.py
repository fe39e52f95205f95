"""A cluster on hosts that are reached by SSH."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from schedfarm.cluster.certificates import security
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.settings import SCHEDULER, UNTOLD, UNWATCHED, WORKERS, unset
from schedfarm.cluster.spec import ClusterSpec

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

WORKER = {"nthreads": 1}
"""One thread per worker process; ``n_workers`` of `worker_options` is the number per host."""

ENCRYPTED = {"protocol": "tls://", "dashboard_address": "127.0.0.1:0"}
"""Options of the scheduler; workers adopt these options."""


@contextmanager
def over_ssh(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Start a scheduler on the first host and workers on the other hosts, and yield a client."""
    import dask
    from distributed import Client, SSHCluster

    if not spec.options.get("hosts"):
        raise ClusterError(
            'ssh needs hosts, the scheduler\'s first, such as hosts = ["a", "a", "b"]'
        )
    if spec.workers is not None:
        raise ClusterError(
            f"workers is {spec.workers}, but hosts and worker_options.n_workers determine "
            "the number over ssh; leave it out"
        )
    options = dict(spec.options)
    options["worker_options"] = {**WORKER, **options.get("worker_options", {})}
    options["scheduler_options"] = {**ENCRYPTED, **options.get("scheduler_options", {})}
    options["remote_python"] = _in_scratch(options.get("remote_python") or sys.executable)
    settings = {**SCHEDULER, **WORKERS, **UNTOLD, **({} if opening.watched else UNWATCHED)}
    known = security(spec.folder)
    with dask.config.set({**unset(settings), **certified(known)}):
        try:
            cluster = SSHCluster(silence_logs=logging.CRITICAL, security=known, **options)
        except Exception as error:  # errors of asyncssh, of the system, and of the remote programs
            raise ClusterError(f"ssh: {error}") from None
    with cluster, Client(cluster) as client:
        yield client


def _in_scratch(python: str | list[str]) -> str | list[str]:
    """Return commands that start Python with a private scratch folder."""
    if isinstance(python, str):
        return f"{python} -m schedfarm.cluster.scratch"
    return [f"{one} -m schedfarm.cluster.scratch" for one in python]


def certified(known: Security) -> dict[str, Any]:
    """Return settings with the certificates' files, whose folder the other hosts share."""
    files = {"ca-file": known.tls_ca_file}
    for role in ("scheduler", "worker", "client"):
        for what in ("cert", "key"):
            files[f"{role}.{what}"] = getattr(known, f"tls_{role}_{what}")
    return {f"distributed.comm.tls.{key}": file for key, file in files.items() if file}
