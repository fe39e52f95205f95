"""Every array that a store holds, declared once: name, dimensions, kind, unit, meaning."""

from __future__ import annotations

from dataclasses import dataclass

FORMAT = "schedfarm-store"
"""Value of the key `format` in store.json."""

VERSION = 3
"""Version of the format; docs/store-format.md says what a new one means."""

PAD = -1
"""Fills a per-job array beyond the last job, and where no simulation is."""

CELL = ("resample", "load", "policy")
"""Leading dimensions of what a policy decides."""

JOBS = ("resample", "load")
"""Leading dimensions of what every policy meets alike."""


@dataclass(frozen=True)
class Variable:
    """Declare one array of a trace's group."""

    name: str
    dims: tuple[str, ...]
    dtype: str
    units: str
    long_name: str

    @property
    def fill(self) -> float | int:
        """Value where nothing was written."""
        if self.dtype == "float64":
            return float("nan")
        return PAD if "job" in self.dims else 0


WORKLOAD = (
    Variable("jobs", JOBS, "int64", "1", "number of jobs"),
    Variable("submit", (*JOBS, "job"), "int64", "s", "submission instant"),
    Variable("run", (*JOBS, "job"), "int64", "s", "run time"),
    Variable("estimate", (*JOBS, "job"), "int64", "s", "requested time"),
    Variable("procs", (*JOBS, "job"), "int64", "1", "requested processors"),
    Variable("user", (*JOBS, "job"), "int64", "1", "user"),
    Variable("number", (*JOBS, "job"), "int64", "1", "job number in the log"),
)
"""What a block of the workload itself writes."""

WEEKS = Variable("weeks", JOBS, "int64", "1", "weeks of submissions; one entry more follows them")
"""Known from the campaign alone; written with the coordinates."""

DECISIONS = (
    Variable("start", (*CELL, "job"), "int64", "s", "start instant"),
    Variable("wait", (*CELL, "job"), "int64", "s", "wait"),
    Variable("backfilled", (*CELL, "job"), "int8", "1", "job was backfilled"),
    Variable("week_jobs", (*CELL, "week"), "int64", "1", "jobs ended in the week"),
    Variable("week_wait", (*CELL, "week"), "float64", "s", "mean wait of jobs ended in the week"),
    Variable(
        "week_bounded_slowdown",
        (*CELL, "week"),
        "float64",
        "1",
        "mean bounded slowdown of jobs ended in the week",
    ),
    Variable(
        "week_pp_bounded_slowdown",
        (*CELL, "week"),
        "float64",
        "1",
        "mean per-processor bounded slowdown of jobs ended in the week",
    ),
)
"""What a block of one policy's simulations writes."""

FAIRNESS = {
    "strict": Variable("fst_strict", (*CELL, "job"), "int64", "s", "strict fair start time"),
    "relaxed": Variable("fst_relaxed", (*CELL, "job"), "int64", "s", "relaxed fair start time"),
    "resource": Variable(
        "resource_share",
        (*CELL, "job"),
        "float64",
        "s",
        "processor-seconds that equal sharing would have given",
    ),
}
"""What a block of each kind of fairness writes, where a campaign asks for it."""

COORDINATES = {
    "trace": "trace",
    "resample": "resample; 0 is the log itself",
    "load": "offered load asked for",
    "policy": "scheduling policy",
    "week": "week since the first submit; a cell's last entry holds all later ends",
}
"""Long name of each coordinate."""
