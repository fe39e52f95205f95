"""Launchers of clusters, one row each."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import Any

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.queues import QUEUES, Queue

NOT_OPTIONS = frozenset(
    {
        *("self", "scheduler", "loop", "asynchronous", "job_cls", "scheduler_cls", "config_name"),
        *("security", "protocol", "n_workers", "silence_logs", "shutdown_on_close", "quiet"),
        *("dashboard_address", "host", "extra", "env_extra", "header_skip", "job_extra"),
    }
)
"""Parameters of launchers' constructors that are no options: the farm sets them, they have been
renamed, or they are meaningless in a file."""


@dataclass(frozen=True)
class Launcher:
    """Describe one kind of cluster.

    Parameters
    ----------
    form : str
        Form of the launcher's text after ``--on``.
    meaning : str
        Description for lists.
    opens : str
        ``module:function``, a context manager that takes a `ClusterSpec` and an `Opening` and
        yields a client.
    pattern : str
        Regular expression of the launcher's texts; its group matches the target.
    ours : bool
        Whether the scheduler runs in this process.
    found : bool
        Whether the cluster's workers exist already.
    package, extra : str
        Required package, and the extra of schedfarm that installs it.
    takes : tuple of str
        ``module:callable`` whose parameters are the options.
    others : bool
        Whether the launcher has further options that only its server knows.
    queue : Queue, optional
        Batch system of the workers, which can also run a coordinator.
    """

    form: str
    meaning: str
    opens: str
    pattern: str
    ours: bool = False
    found: bool = False
    package: str = ""
    extra: str = ""
    takes: tuple[str, ...] = ()
    others: bool = False
    queue: Queue | None = None

    def open(self) -> Callable[..., Any]:
        """Return the function that opens the cluster."""
        function: Callable[..., Any] = imported(self.opens)
        return function

    def check_package(self, kind: str) -> None:
        """Refuse the launcher if its package is not installed."""
        if self.package and find_spec(self.package) is None:
            raise ClusterError(
                f"{kind} needs {self.package}; pip install 'schedfarm[{self.extra}]'"
            )

    def options(self) -> tuple[str, ...]:
        """Return the launcher's options from signatures in its library."""
        found: dict[str, None] = {}
        for one in self.takes:
            named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
            parameters = signature(imported(one)).parameters.values()
            found |= dict.fromkeys(p.name for p in parameters if p.kind in named)
        return tuple(sorted(found.keys() - NOT_OPTIONS))


def imported(name: str) -> Any:
    """Return the object named by ``module:path``.

    Examples
    --------
    >>> imported("math:floor")(2.5)
    2
    """
    module, _, path = name.partition(":")
    with _interrupts_kept():
        found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Restore the SIGINT handler, which an import of dask-jobqueue replaces by a silent exit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # None stands for a handler that Python did not install, and cannot restore.
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _batch(name: str, system: str) -> Launcher:
    queue = QUEUES[name]
    return Launcher(
        form=name,
        meaning=f"jobs of {system}, each with worker processes",
        opens="schedfarm.cluster.jobs:jobs_cluster",
        pattern=name,
        ours=True,
        package="dask_jobqueue",
        extra="jobqueue",
        takes=(
            "dask_jobqueue.core:JobQueueCluster.__init__",
            "dask_jobqueue.core:Job.__init__",
            f"dask_jobqueue:{queue.cluster}.job_cls.__init__",
        ),
        queue=queue,
    )


LAUNCHERS: Mapping[str, Launcher] = {
    "local": Launcher(
        form="local",
        meaning="one process per core of this machine",
        opens="schedfarm.cluster.local:opened",
        pattern="local",
        ours=True,
    ),
    "address": Launcher(
        form="tls://HOST:PORT, tcp://HOST:PORT",
        meaning="a running scheduler, by its address",
        opens="schedfarm.cluster.existing:by_address",
        pattern=r"((?:tcp|tls|ws|wss|inproc)://\S+)",
        found=True,
    ),
    "scheduler-file": Launcher(
        form="scheduler-file:PATH",
        meaning="a running or starting scheduler, by its scheduler file",
        opens="schedfarm.cluster.existing:by_file",
        pattern=r"scheduler-file:(.+)",
        found=True,
    ),
    "slurm": _batch("slurm", "Slurm"),
    "pbs": _batch("pbs", "PBS"),
    "sge": _batch("sge", "Grid Engine"),
    "lsf": _batch("lsf", "LSF"),
    "htcondor": _batch("htcondor", "HTCondor"),
    "oar": _batch("oar", "OAR"),
    "kubernetes": Launcher(
        form="kubernetes",
        meaning="pods of a cluster that has Dask's operator",
        opens="schedfarm.cluster.kubernetes:pods",
        pattern="kubernetes",
        package="dask_kubernetes",
        extra="kubernetes",
        takes=("dask_kubernetes.operator:KubeCluster.__init__",),
    ),
    "gateway": Launcher(
        form="gateway",
        meaning="a cluster of a Dask Gateway, as offered by clouds and centres",
        opens="schedfarm.cluster.gateway:from_gateway",
        pattern="gateway",
        package="dask_gateway",
        extra="gateway",
        takes=("dask_gateway:GatewayCluster.__init__",),
        others=True,
    ),
    "ssh": Launcher(
        form="ssh",
        meaning="hosts reached by SSH, the first for the scheduler",
        opens="schedfarm.cluster.ssh:over_ssh",
        pattern="ssh",
        package="asyncssh",
        extra="ssh",
        takes=("distributed:SSHCluster",),
    ),
}


def recognised(text: str) -> tuple[str, str] | None:
    """Return the launcher and target in a text; None if the text has neither.

    Examples
    --------
    >>> recognised("tls://10.0.0.1:8786"), recognised("slurm"), recognised("LOCAL")
    (('address', 'tls://10.0.0.1:8786'), ('slurm', ''), None)
    """
    for kind, row in LAUNCHERS.items():
        found = re.fullmatch(row.pattern, text)
        if found:
            return kind, found[1] if found.groups() else ""
    return None
