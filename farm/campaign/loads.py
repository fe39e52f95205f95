"""What brings jobs to a load, one row each. Reading the rows imports nothing that takes time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload

ORIGINAL = "original"
"""Label of the load that leaves a trace as it is."""

HIGHEST = 2.0
"""Load above which it is rather a slip than meant, such as 90 for 0.9."""


def check_overload(loads: Iterable[str], overload: bool) -> None:
    """Refuse loads far beyond what a machine can do, unless that is said to be meant.

    Parameters
    ----------
    loads : iterable of str
        Labels.
    overload : bool
        Whether it is meant.

    Raises
    ------
    InputError
        Naming the first such load, and what was meant instead if it looks like a percentage.

    Examples
    --------
    >>> check_overload(["original", "90.0"], False)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: load 90.0 is above 2: did you mean 0.9? if not, say overload =
    true \
in the campaign, or --overload
    """
    from schedfarm.core.errors import InputError

    for load in loads:
        if load != ORIGINAL and float(load) > HIGHEST and not overload:
            # From 10 on it is a load in per cent; one below that would be next to idle.
            guess = f"did you mean {float(load) / 100:g}? if not, " if float(load) >= 10 else ""
            raise InputError(
                f"load {load} is above {HIGHEST:g}: {guess}say overload = true in the campaign, "
                "or --overload"
            )


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
        from schedfarm.core.own import load as imported

        function: Any = imported(self.function)
        scaled: Workload = function(workload, float(load))
        return scaled


_ROWS = (
    LoadBy("runtime", "longer run times and estimates", "schedfarm.core.workload.load:scale_load"),
    LoadBy(
        "interarrival",
        "shorter gaps between submissions",
        "schedfarm.core.workload.load:scale_arrivals",
        stretches=True,
    ),
    LoadBy("users", "more users in the resample"),
)

LOAD_BY: dict[str, LoadBy] = {row.name: row for row in _ROWS}
"""Every way to reach a load, by name, the default first."""
