"""What brings jobs to a load, one row each. Reading the rows imports nothing that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.workload.workload import Workload

ORIGINAL = "original"
"""Label of the load that leaves a trace as it is."""


@dataclass(frozen=True)
class LoadBy:
    """Declare one way to reach a load.

    Parameters
    ----------
    name : str
        What campaigns call it.
    meaning : str
        What is changed.
    function : str
        ``module:function`` from jobs and a load to jobs at that load; empty where the number of
        users drawn reaches it, before there are jobs.
    stretches : bool
        Whether submissions move, so that a trace has other weeks at each load.
    """

    name: str
    meaning: str
    function: str = ""
    stretches: bool = False

    @property
    def users(self) -> bool:
        """Whether a load is reached by how many users are drawn."""
        return not self.function

    def bring(self, workload: Workload, load: str) -> Workload:
        """Return the jobs at a labelled load; one that users reach has been by drawing them."""
        if load == ORIGINAL or self.users:
            return workload
        from core.own import load as imported

        function: Any = imported(self.function)
        scaled: Workload = function(workload, float(load))
        return scaled


_ROWS = (
    LoadBy("runtime", "longer run times and estimates", "core.workload.load:scale_load"),
    LoadBy(
        "interarrival",
        "shorter gaps between submissions",
        "core.workload.load:scale_arrivals",
        stretches=True,
    ),
    LoadBy("users", "more users in the resample"),
)

LOAD_BY: dict[str, LoadBy] = {row.name: row for row in _ROWS}
"""Every way to reach a load, by name, the default first."""
