"""Parameters of a site that no file contains: one row each, with the searched range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from schedfarm.core.durations import DAY
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.policy.multifactor import MOST, Multifactor
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.model import Site

FACTOR = 10
"""Factor of the searched range of weights, below and above the value of slurm.conf."""

LEAST_USABLE = 0.5
"""Least searched part of the processors."""


@dataclass(frozen=True)
class Setting:
    """Hold a machine's processors and an order, with which a site is simulated."""

    processors: int
    order: Multifactor | None


@dataclass(frozen=True)
class Parameter:
    """Declare a parameter that can be fitted; all are searched on a logarithmic scale.

    of: the dump's value. bounds: least and largest value. put: sets it. is_weight: whether it is an
    argument of the order, which priority/basic lacks.
    """

    name: str
    unit: str
    meaning: str
    of: Callable[[Site], int]
    bounds: Callable[[Site], tuple[float, float]]
    put: Callable[[Setting, int], Setting]
    of_order: bool = True


def start(site: Site) -> Setting:
    """Return the setting that the dump describes."""
    return Setting(site.processors.value, site.order)


def jobs_at(site: Site, setting: Setting, jobs: Workload | None = None) -> Workload:
    """Return the site's jobs, or some of them, on the setting's machine."""
    return replace(site.jobs if jobs is None else jobs, platform=Pool(setting.processors))


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


def _usable(site: Site) -> tuple[float, float]:
    """Return the range of the effective capacity: at least the widest job, at most all."""
    most, widest = site.processors.value, int(site.jobs.procs.max())
    return float(max(widest, round(LEAST_USABLE * most))), float(most)


PARAMETERS: Mapping[str, Parameter] = MappingProxyType({
    "processors": Parameter(
        "processors", "processors", "processors that are really usable",
        lambda site: site.processors.value, _usable,
        lambda setting, value: replace(setting, processors=value), of_order=False,
    ),
    "halflife": Parameter(
        "halflife", "s", "time after which usage counts half (PriorityDecayHalfLife)",
        _argument("halflife"), lambda _: (DAY / 4, 90.0 * DAY), _put("halflife"),
    ),
    **{
        name: Parameter(
            name, "1", f"weight of the factor {name}", _argument(name), _around(name), _put(name)
        )
        for name in ("age", "fairshare", "size", "qos", "partition")
    },
})  # fmt: skip
"""By the name that `--fit` takes."""


def check_fitted(site: Site, names: tuple[str, ...]) -> None:
    """Refuse parameters of an order that the site does not have, and those with the value 0."""
    for name in names:
        if site.order is None and PARAMETERS[name].of_order:
            raise InputError(
                f"--fit {name}: the site has no such parameter, since PriorityType is "
                "priority/basic; fit processors alone"
            )
        if PARAMETERS[name].of(site) == 0:
            raise InputError(
                f"--fit {name}: its value is 0 ({site.priority[name].source}), and the search "
                "multiplies the value of the dump; fit another parameter, or set a larger value"
            )


def rounded(value: float) -> int:
    """Return a value in the form of parameters: a whole number, large ones with three digits."""
    digits = max(0, int(np.floor(np.log10(max(value, 1)))) - 3)
    return max(1, int(round(value / 10**digits) * 10**digits))
