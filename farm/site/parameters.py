"""Parameters of a site that files lack or may have wrong: one row each, with the range searched."""

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
"""Factor of the searched range of weights, below and above the value of slurm.conf."""

RATES = (1.0, 10_000.0)
"""Searched range of the tests per second; with the largest, cycles take a second at most."""

LEAST_USABLE = 0.5
"""Least searched part of the processors."""


@dataclass(frozen=True)
class Setting:
    """Hold what a site is simulated with: processors, an order, and the rate of backfill cycles.

    rate: tests per second; 0 if cycles take no time.
    """

    processors: int
    order: Multifactor | None
    rate: int = 0

    def policy(self, site: Site, *, axes: bool = False) -> str:
        """Return the policy's name; axes: whether limits have the values of axes."""
        return site.policy(self.order, rate=self.rate, axes=axes)


@dataclass(frozen=True)
class Parameter:
    """Declare a parameter that can be fitted; all are searched on a logarithmic scale.

    of: the dump's value; None if no file contains it. bounds: least and largest value. put: sets
    it. lacks: the reason why a site has no such parameter, empty if it has. near: the value that a
    site has in place of one between two possible ones.
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
    """Return the setting that the dump describes."""
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
    """Return the range of the effective capacity: at least that of the widest jobs, at most all."""
    most, widest = site.processors.value, int(site.jobs.procs.max())
    least = max(widest, round(LEAST_USABLE * most))
    return float(_capacity(site, _least_admitting(site.jobs, least, most))), float(most)


def _capacity(site: Site, processors: int) -> int:
    """Return the processors of the machine that is simulated with a number of them."""
    return usable(site.jobs.platform, processors).size


def _least_admitting(jobs: Workload, least: int, most: int) -> int:
    """Return the least processors from some on at which each job fits into its partition.

    A job that ran during maintenance fits into what the windows leave, unless they leave too little
    of all processors.
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
"""By the name that `--fit` takes."""


def check_fitted(site: Site, names: tuple[str, ...]) -> None:
    """Refuse parameters of an order that the site does not have, and those with the value 0."""
    for name in names:
        if why := PARAMETERS[name].lacks(site):
            raise InputError(f"--fit {name}: {why}")
        if PARAMETERS[name].of(site) == 0:
            raise InputError(
                f"--fit {name}: its value is 0 ({site.priority[name].source}), and the search "
                "multiplies the value of the dump; fit another parameter, or set a larger value"
            )


def rounded(value: float) -> int:
    """Return a value in the form of parameters: a whole number, large ones with three digits."""
    digits = max(0, int(np.floor(np.log10(max(value, 1)))) - 3)
    return max(1, int(round(value / 10**digits) * 10**digits))
