"""Methods of scaling jobs to an offered load, one row each; their code is imported on use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload

ORIGINAL = "original"
"""Label of the load that leaves a trace unchanged."""

HIGHEST = 2.0
"""Highest load without `overload`: most higher loads are slips, such as 90 for 0.9."""


def check_overload(loads: Iterable[str], overload: bool) -> None:
    """Refuse labels of loads far above the capacity of a machine, unless `overload` is set.

    Examples
    --------
    >>> check_overload(["original", "90.0"], False)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: load 90.0 is above 2: did you mean 0.9? if not, set overload =
    true in the campaign, or --overload
    """
    from schedfarm.core.errors import InputError

    for load in loads:
        if load != ORIGINAL and float(load) > HIGHEST and not overload:
            # From 10 on it is probably a percentage; below, the machine would be nearly idle.
            guess = f"did you mean {float(load) / 100:g}? if not, " if float(load) >= 10 else ""
            raise InputError(
                f"load {load} is above {HIGHEST:g}: {guess}set overload = true in the campaign, "
                "or --overload"
            )


@dataclass(frozen=True)
class LoadScaling:
    """Declare one method of reaching a load.

    name: its name in campaigns, the key `load_by`. meaning: the changed attribute. function: scales
    jobs to a load; None if the number of drawn users determines the load. stretches: whether
    submission times change, so that the trace has other weeks at each load.
    """

    name: str
    meaning: str
    function: Callable[[Workload, float], Workload] | None = None
    stretches: bool = False

    @property
    def by_users(self) -> bool:
        """Whether the number of users drawn determines the load."""
        return self.function is None

    def scale(self, workload: Workload, load: str) -> Workload:
        """Return the jobs at a labelled load; unchanged if the drawn users determine the load."""
        if load == ORIGINAL or self.function is None:
            return workload
        return self.function(workload, float(load))


def _run_times(workload: Workload, load: float) -> Workload:
    from schedfarm.core.workload.load import scale_load

    return scale_load(workload, load)


def _arrivals(workload: Workload, load: float) -> Workload:
    from schedfarm.core.workload.load import scale_arrivals

    return scale_arrivals(workload, load)


_ROWS = (
    LoadScaling("runtime", "longer run times and estimates", _run_times),
    LoadScaling("interarrival", "shorter gaps between submissions", _arrivals, stretches=True),
    LoadScaling("users", "more users in the resample"),
)

LOAD_BY: dict[str, LoadScaling] = {row.name: row for row in _ROWS}
"""Every method of reaching a load by name, the default first."""
