"""What one array of a store is: name, dimensions, kind, unit, meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedfarm.core.format.geometry import AXES, ORIGIN, SAMPLE

PAD = -1
"""Fills a per-job array beyond the last job, and where no simulation is."""

TARGET_LOAD = "target_load"
"""The coordinate that has the loads as numbers, which an axis of a plot needs."""

COORDINATES = {
    "trace": "trace",
    "resample": "resample; 0 is the log itself",
    "load": "offered load asked for",
    TARGET_LOAD: "offered load asked for, as a number; missing of jobs as they are",
    "policy": "scheduling policy",
    "week": "week since the first submit; a cell's last entry holds all later ends",
    "user": "user number of the log or model",
    "width": "processors of a job",
    "node": "node of the machine",
    ORIGIN: "participant: the cluster to which jobs are submitted",
}
"""Long name of each coordinate."""


@dataclass(frozen=True)
class Variable:
    """Declare one array.

    Parameters
    ----------
    name : str
        Its name in the store.
    dims : tuple of str
        Dimensions: `SAMPLE` or `CELL`, then at most one of job, week, user, width and origin,
        after job perhaps node; in the summary those of `AXES`.
    dtype, units, long_name : str
        Kind of its values, their unit (1 for a pure number), and one line of meaning.
    better : {"smaller", "larger", ""}
        Which values are better, where one can say so.
    of : str
        Name by which `core.metrics.declared.find_metric` finds what it holds; empty for columns.
    among : bool
        Whether it is a matter of several participants though it has no value of each, so that
        only traces that have some have it.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    units: str
    long_name: str
    better: str = ""
    of: str = ""
    among: bool = False

    @property
    def fill(self) -> float | int:
        """Value where nothing was written."""
        if self.dtype == "float64":
            return float("nan")
        return PAD if "job" in self.dims else 0

    @property
    def inner(self) -> tuple[str, ...]:
        """Dimensions of one cell's values."""
        return tuple(d for d in self.dims if d not in AXES)

    @property
    def attributes(self) -> dict[str, Any]:
        """What the array says of itself."""
        return {"units": self.units, "long_name": self.long_name, "better": self.better}


WEEKS = Variable("weeks", SAMPLE, "int64", "1", "weeks of submissions; one entry more follows them")
"""Known from the campaign alone; written with the coordinates."""
