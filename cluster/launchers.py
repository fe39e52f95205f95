"""Launchers: one row each."""

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
"""Parameters of launchers' constructors that are no options: set by the farm, renamed since, or
meaningless in a file."""


@dataclass(frozen=True)
class Launcher:
    """Describe one kind of cluster.

    Parameters
    ----------
    form : str
        Its form after ``--on``.
    meaning : str
        Description for lists.
    opens : str
        ``module:function``, a context manager that takes a `ClusterSpec` and an `Opening` and
        yields a client.
    pattern : str
        Regular expression of its texts; the group matches the target.
    ours : bool
        Whether its scheduler runs in this process.
    found : bool
        Whether it uses existing workers.
    package, extra : str
        Required package, and the extra of schedfarm that installs it.
    takes : tuple of str
        ``module:callable`` whose parameters are its options.
    others : bool
        Whether it has further options, known only to its server.
    queue : Queue, optional
        Batch system of its workers, which can also run a coordinator.
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
        """Return the launcher's options, from the signatures of its library."""
        found: dict[str, None] = {}
        for one in self.takes:
            named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
            parameters = signature(imported(one)).parameters.values()
            found |= dict.fromkeys(p.name for p in parameters if p.kind in named)
        return tuple(sorted(found.keys() - NOT_OPTIONS))


def imported(name: str) -> Any:
    """Return the object that ``module:path`` names.

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
    """Restore the SIGINT handler, which dask-jobqueue replaces by a silent exit on import."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # None is a handler that was not installed by Python, and that Python cannot restore.
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
    """Return the launcher and target that a text names; None if there is none.

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
