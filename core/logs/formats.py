"""The formats of logs, each one row: how its files look, and what reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.own import load

if TYPE_CHECKING:
    from core.workload.workload import Workload


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
    on_nodes : bool
        Whether its jobs ask for nodes: the reader then takes a `platform` too.
    """

    meaning: str
    ends: tuple[str, ...]
    opens: Callable[[str], bool]
    fields: int | None
    function: str
    schedules: str = ""
    on_nodes: bool = False

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
        function="core.logs.swf:read_swf",
        schedules="core.logs.schedules:read_swf_schedule",
    ),
    "gwf": Format(
        meaning="Grid Workloads Format",
        ends=(".gwf",),
        opens=lambda line: line.startswith("#"),
        fields=29,
        function="core.logs.gwf:read_gwf",
    ),
    "sacct": Format(
        meaning="what Slurm's sacct --parsable2 prints",
        ends=(".sacct",),
        opens=lambda line: not {"jobid", "jobidraw"}.isdisjoint(line.lower().split("|")),
        fields=None,
        function="core.logs.sacct:read_sacct",
    ),
    "oar": Format(
        meaning="jobs on nodes as CSV, and the machine as TOML beside it",
        ends=(".csv",),
        opens=lambda line: (
            {"job", "submit", "walltime"} <= {w.strip() for w in line.lower().split(",")}
        ),
        fields=None,
        function="core.logs.oar:read_oar",
        schedules="core.logs.oar:read_oar_schedule",
        on_nodes=True,
    ),
}
"""Every format by its name; the first is that of a file that nothing tells."""


def file_ends() -> tuple[str, ...]:
    """Return how the files of logs may end, the likeliest first.

    Examples
    --------
    >>> file_ends()[:3]
    ('.swf.gz', '.swf', '.gwf.gz')
    """
    ends = (end for known in FORMATS.values() for end in known.ends)
    return tuple(end + packed for end in ends for packed in (".gz", ""))
