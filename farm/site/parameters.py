"""Parameters of a site that files lack or may have wrong: one row each, with the searched range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from schedfarm.core.durations import DAY
from schedfarm.core.errors import InputError
from schedfarm.core.policy.multifactor import MOST, Multifactor
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.hosts import usable
from schedfarm.farm.site.model import Site
from schedfarm.farm.site.room import has_room

FACTOR = 10
"""Factor between the value of slurm.conf and each end of the searched range of a weight."""

RATES = (1.0, 10_000.0)
"""Searched range of the tests per second; at its upper end cycles take at most a second."""

LEAST_USABLE = 0.5
"""Least searched share of the processors."""


@dataclass(frozen=True)
class Setting:
    """Hold the setting of a simulation: processors, an order, and the rate of backfill cycles.

    rate: tests per second; 0 if cycles take no time.
    """

    processors: int
    order: Multifactor | None
    rate: int = 0

    def policy(self, site: Site, *, axes: bool = False) -> str:
        """Return the policy's name; axes: whether limits have placeholders for axes."""
        return site.policy(self.order, rate=self.rate, axes=axes)


@dataclass(frozen=True)
class Parameter:
    """Declare a parameter that can be fitted; all parameters are searched on a logarithmic scale.

    of: function that returns the dump's value, None if no file contains it. bounds: function that
    returns the least and largest value. put: function that sets the value. lacks: function that
    returns the reason why a site has no such parameter, or "". near: function that rounds a value
    to a possible value of a site.
    """

    name: str
    unit: str
    meaning: str
    of: Callable[[Site], int | None]
    bounds: Callable[[Site], tuple[float, float]]
    put: Callable[[Setting, int], Setting]
    lacks: Callable[[Site], str]
    near: Callable[[Site, int], int] = lambda _, value: value


def start(site: Site) -> Setting:
    """Return the setting in the dump."""
    return Setting(site.processors.value, site.order)


def jobs_at(site: Site, setting: Setting, jobs: Workload | None = None) -> Workload:
    """Return the site's jobs, or some of them, on the setting's machine."""
    jobs = site.jobs if jobs is None else jobs
    return replace(jobs, platform=usable(jobs.platform, setting.processors))


def _argument(name: str) -> Callable[[Site], int]:
    return lambda site: int(getattr(site.order, name))


def _put(name: str) -> Callable[[Setting, int], Setting]:
    def put(setting: Setting, value: int) -> Setting:
        assert setting.order is not None
        changes: dict[str, Any] = {name: value}
        return replace(setting, order=replace(setting.order, **changes))

    return put


def _around(name: str) -> Callable[[Site], tuple[float, float]]:
    def bounds(site: Site) -> tuple[float, float]:
        value = max(1, getattr(site.order, name))
        return max(1.0, value / FACTOR), min(float(MOST), value * FACTOR)

    return bounds


def _no_order(site: Site) -> str:
    basic = "the site has no such parameter, since PriorityType is priority/basic; fit processors"
    return "" if site.order is not None else f"{basic} alone"


def _no_cycles(site: Site) -> str:
    if site.has_cycles:
        return ""
    return f"the site has no backfill cycles ({site.without_cycles}); leave it out"


def _usable(site: Site) -> tuple[float, float]:
    """Return the range of the effective capacity, from the width of the widest job to all."""
    most, widest = site.processors.value, int(site.jobs.procs.max())
    least = max(widest, round(LEAST_USABLE * most))
    return float(_capacity(site, _least_admitting(site.jobs, least, most))), float(most)


def _capacity(site: Site, processors: int) -> int:
    """Return the actual size of the machine that is simulated for a number of processors."""
    return usable(site.jobs.platform, processors).size


def _least_admitting(jobs: Workload, least: int, most: int) -> int:
    """Return the least number of processors, from `least` on, at which each job fits its partition.

    A job that ran during maintenance must fit next to the windows, unless it does not fit there
    with all processors.
    """
    lacks_room = ~has_room(jobs, jobs.platform)
    while least < most:
        middle = (least + most) // 2
        platform = usable(jobs.platform, middle)
        if platform.admits(jobs).all() and (has_room(jobs, platform) | lacks_room).all():
            most = middle
        else:
            least = middle + 1
    return least


PARAMETERS: Mapping[str, Parameter] = MappingProxyType({
    "processors": Parameter(
        "processors", "processors", "processors that are really usable",
        lambda site: site.processors.value, _usable,
        lambda setting, value: replace(setting, processors=value), lambda _: "", _capacity,
    ),
    "halflife": Parameter(
        "halflife", "s", "time after which usage counts half (PriorityDecayHalfLife)",
        _argument("halflife"), lambda _: (DAY / 4, 90.0 * DAY), _put("halflife"), _no_order,
    ),
    "bf_rate": Parameter(
        "bf_rate", "1/s", "jobs that a backfill cycle tests in a second", lambda _: None,
        lambda _: RATES, lambda setting, value: replace(setting, rate=value), _no_cycles,
    ),
    **{
        name: Parameter(
            name, "1", f"weight of the factor {name}", _argument(name), _around(name), _put(name),
            _no_order,
        )
        for name in ("age", "fairshare", "size", "qos", "partition")
    },
})  # fmt: skip
"""Parameters by their names for `--fit`."""


def check_fitted(site: Site, names: tuple[str, ...]) -> None:
    """Refuse parameters that the site's order lacks, and parameters with the value 0."""
    for name in names:
        if why := PARAMETERS[name].lacks(site):
            raise InputError(f"--fit {name}: {why}")
        if PARAMETERS[name].of(site) == 0:
            raise InputError(
                f"--fit {name}: its value is 0 ({site.priority[name].source}), and the search "
                "multiplies the value of the dump; fit another parameter, or set a larger value"
            )


def rounded(value: float) -> int:
    """Return a value as a whole number; large values are rounded to three digits."""
    digits = max(0, int(np.floor(np.log10(max(value, 1)))) - 3)
    return max(1, int(round(value / 10**digits) * 10**digits))
