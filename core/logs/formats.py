"""The formats of logs, each one row: how its files look, and what reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from schedfarm.core.own import load

if TYPE_CHECKING:
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.workload import Workload


@dataclass(frozen=True)
class Beside:
    """Declare the machine that a log of a format has in a file beside it.

    Parameters
    ----------
    platform : str
        Its kind of platform.
    reads : str
        What reads the file, as ``module:function``, from its path.
    writes : str
        The same of what gives the bytes of both files, the log's first, from a workload, and a
        schedule and notes or None.
    """

    platform: str
    reads: str
    writes: str

    def read(self, path: str | os.PathLike[str]) -> Any:
        """Return what the file says.

        Raises
        ------
        InputError
            If it is of another form.
        """
        reader: Any = load(self.reads)
        return reader(path)

    def both(
        self, jobs: Workload, schedule: Schedule | None, notes: Mapping[str, str] | None
    ) -> tuple[bytes, bytes]:
        """Return the bytes of the log and of the file beside it.

        Raises
        ------
        InputError
            If the form cannot hold the jobs.
        """
        writer: Any = load(self.writes)
        found: tuple[bytes, bytes] = writer(jobs, schedule, notes)
        return found


@dataclass(frozen=True)
class Format:
    """Declare a format of logs.

    Parameters
    ----------
    meaning : str
        The format's full name.
    ends : tuple of str
        Ends of its files' names, in small letters, before a ``.gz``.
    opens : callable
        Tells by the first line of a file, stripped, that it is certainly of this format.
    fields : int or None
        How many words a row has, for files that say nothing else; None where words vary.
    function : str
        Its reader, as ``module:function``: readers use the rows, so the rows cannot import them.
    schedules : str
        The same of schedules, from a path, processors and cleaning; empty where it has none.
    beside : Beside, optional
        The machine that stands in a file beside; the reader then takes a `platform` too.
    """

    meaning: str
    ends: tuple[str, ...]
    opens: Callable[[str], bool]
    fields: int | None
    function: str
    schedules: str = ""
    beside: Beside | None = None

    @property
    def reader(self) -> Callable[..., Workload]:
        """From a path, and by name processors, rows, jobs and clean, to a workload."""
        reader: Any = load(self.function)
        return cast("Callable[..., Workload]", reader)


FORMATS: dict[str, Format] = {
    "swf": Format(
        meaning="Standard Workload Format",
        ends=(".swf",),
        opens=lambda line: line.startswith(";"),
        fields=18,
        function="schedfarm.core.logs.swf:read_swf",
        schedules="schedfarm.core.logs.schedules:read_swf_schedule",
    ),
    "gwf": Format(
        meaning="Grid Workloads Format",
        ends=(".gwf",),
        opens=lambda line: line.startswith("#"),
        fields=29,
        function="schedfarm.core.logs.gwf:read_gwf",
    ),
    "sacct": Format(
        meaning="what Slurm's sacct --parsable2 prints",
        ends=(".sacct",),
        opens=lambda line: not {"jobid", "jobidraw"}.isdisjoint(line.lower().split("|")),
        fields=None,
        function="schedfarm.core.logs.sacct:read_sacct",
    ),
    "oar": Format(
        meaning="jobs on nodes as CSV, and the machine as TOML beside it",
        ends=(".csv",),
        opens=lambda line: (
            {"job", "submit", "walltime"} <= {w.strip() for w in line.lower().split(",")}
        ),
        fields=None,
        function="schedfarm.core.logs.oar:read_oar",
        schedules="schedfarm.core.logs.oar:read_oar_schedule",
        beside=Beside(
            "nodes", "schedfarm.core.logs.machine:read_machine", "schedfarm.core.logs.oar:oar_bytes"
        ),
    ),
    "clusters": Format(
        meaning="jobs on clusters with links as CSV, and the clusters as TOML beside it",
        ends=(".csv",),
        opens=lambda line: (
            {"submit", "procs", "origin"} <= {w.strip() for w in line.lower().split(",")}
        ),
        fields=None,
        function="schedfarm.core.logs.clusters:read_clusters",
        schedules="schedfarm.core.logs.clusters:read_clusters_schedule",
        beside=Beside(
            "network",
            "schedfarm.core.logs.clusters:read_network",
            "schedfarm.core.logs.clusters:clusters_bytes",
        ),
    ),
}
"""Every format by its name; the first is that of a file that nothing tells."""


def beside_of(platform: str) -> Beside | None:
    """Return how jobs on a kind of platform are written where SWF cannot hold what they ask for.

    Examples
    --------
    >>> beside_of("network").writes, beside_of("pool")
    ('schedfarm.core.logs.clusters:clusters_bytes', None)
    """
    rows = (known.beside for known in FORMATS.values())
    return next((row for row in rows if row is not None and row.platform == platform), None)


def file_ends() -> tuple[str, ...]:
    """Return how the files of logs may end, the likeliest first.

    Examples
    --------
    >>> file_ends()[:3]
    ('.swf.gz', '.swf', '.gwf.gz')
    """
    ends = dict.fromkeys(end for known in FORMATS.values() for end in known.ends)
    return tuple(end + packed for end in ends for packed in (".gz", ""))
