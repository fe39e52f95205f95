"""Status of a store in the text format of OpenMetrics, for Prometheus and similar systems."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.farm.watching.status import Status

STATES = ("done", "failed", "missing")


def openmetrics(found: Status) -> str:
    """Return a status as OpenMetrics text: cells by trace and state, jobs, CPU and wall time.

    Examples
    --------
    >>> counts = {"cells": 8, "done": 5, "failed": 1, "missing": 2}
    >>> found = Status("s", "", **counts, jobs=200, seconds=1.5, wall=2.0, traces={"m": counts},
    ...                origins=(), failures=())
    >>> print(openmetrics(found).splitlines()[2])
    schedfarm_cells{campaign="s",trace="m",state="done"} 5
    """
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Status) -> Iterator[str]:
    campaign = f'campaign="{found.campaign}"'
    yield "# TYPE schedfarm_cells gauge"
    yield "# HELP schedfarm_cells Cells of a store by trace and state."
    for trace, counts in found.traces.items():
        for state in STATES:
            yield f'schedfarm_cells{{{campaign},trace="{trace}",state="{state}"}} {counts[state]}'
    for name, unit, value, what in (
        ("jobs", "", found.jobs, "Jobs simulated in the cells that are done."),
        ("cpu_seconds", "seconds", found.seconds, "CPU time of the simulations."),
        ("wall_seconds", "seconds", found.wall, "Time that runs have worked on the store."),
    ):
        yield f"# TYPE schedfarm_{name} gauge"
        if unit:
            yield f"# UNIT schedfarm_{name} {unit}"
        yield f"# HELP schedfarm_{name} {what}"
        yield f"schedfarm_{name}{{{campaign}}} {value}"
    yield "# EOF"
